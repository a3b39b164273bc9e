/** The stream as a kernel engineer uses it: gen | kernel | verify, in processes of their own. */
import { describe, expect, test } from 'vitest';
import { fp4 } from './fp4.ts';

const COMMANDS = [
  'functions',
  'eval',
  'gen',
  'verify',
  'quantize',
  'dequantize',
  'inspect',
  'diff',
  'tensor',
];

const lines = (text: string): string[] => text.trimEnd().split('\n');
/** The counter-example of HIF4-15: 000000c0 with one code 2 is 0.5, BF16 3f00. */
const HALF = `${['3f00', ...Array.from({ length: 63 }, () => '0000')].join(' ')}`;
const HALF_ENCODED = `000101b1 6${'0'.repeat(63)}`;

describe('eval [STR-06]', () => {
  test('a unit worked out by hand: 0.5 gives 000101b1 and code 6 [HIF4-05, HIF4-15]', async () => {
    const { code, out, err } = await fp4(['eval', 'hif4_quantize'], `${HALF}\n`);
    expect([code, out, err]).toEqual([0, `${HALF_ENCODED}\n`, '']);
  });

  test('comments, empty lines, upper case, CRLF and a last line without end [STR-01, STR-03]', async () => {
    const { code, out } = await fp4(
      ['eval', 'f32_to_bf16'],
      '# three\r\n\r\n3F808000\r\n\n3f818000\n7fabcdef',
    );
    expect([code, out]).toEqual([0, '3f80\n3f82\n7fc0\n']);
  });

  test('a malformed line: those before it are answered, exit 2 [STR-03, STR-07]', async () => {
    const { code, out, err } = await fp4(['eval', 'f32_to_bf16'], '3f800000\n\n3f8\n40000000\n');
    expect([code, out]).toEqual([2, '3f80\n']);
    expect(err).toBe('fp4: line 3, word 1: "3f8" has 3 hex digits; an FP32 word has 8 (E_WORD_WIDTH)\n');
  });

  test('nonfinite=error: the line and the element are named [CON-05, STR-06]', async () => {
    const nan = HALF.replace(/0000$/, '7fc0');
    const { code, out, err } = await fp4(
      ['eval', 'hif4_quantize', '--set', 'nonfinite=error'],
      `${HALF}\n${nan}\n${HALF}\n`,
    );
    expect([code, out]).toEqual([2, `${HALF_ENCODED}\n`]);
    expect(err).toBe('fp4: line 2: element 63 is a NaN, which nonfinite=error refuses (E_NONFINITE)\n');
  });

  test('stages of the example, worked out by hand [HIF4-16, STR-05]', async () => {
    // Vmax 0.5: SF = bf16(0.5 x 146/1024) = 0.0712890625 = 3d92; E6M2 1.25 x 2^-4 = b1; REC = 1.6015625 x 2^3 = 414d;
    // 0.5 x 12.8125 = 6.40625 >= 4, 3.203125 >= 2, 1.6015625 -> 6.40625 quarters -> 6.
    const { out } = await fp4(['eval', 'hif4_quantize', '--stages'], `${HALF}\n`);
    const list = (first: string, count: number, rest: string): string =>
      [first, ...Array.from({ length: count - 1 }, () => rest)].join(',');
    expect(out.trimEnd()).toBe(
      [
        HALF_ENCODED,
        `max4=${list('3f00', 16, '0000')}`,
        `max8=${list('3f00', 8, '0000')}`,
        'max64=3f00 sf=3d92 e6m2=b1 rcp=414d e1_8=01 e1_16=0001',
        `scaled=${list('3fcd0000', 64, '00000000')}`,
        `codes=6${'0'.repeat(63)}`,
      ].join(' '),
    );
  });

  test('MXFP4 stages: exponent before the clamp, all-zero ff81, NaN 0080 [MX-16]', async () => {
    const block = (first: string, rest = '0000'): string =>
      [first, ...Array.from({ length: 31 }, () => rest)].join(' ');
    const input = [block('0000'), block('7fc0'), block('0001'), block('40c0')].join('\n');
    const { out } = await fp4(['eval', 'mxfp4_quantize', '--stages'], input);
    const shown = lines(out).map((line) => line.replace(/ scaled=\S+ codes=\S+$/, ''));
    const zeros = '0'.repeat(31);
    expect(shown).toEqual([
      `00 0${zeros} amax=00000000 exponent=ff81 scale=00`,
      `ff 0${zeros} amax=7fc00000 exponent=0080 scale=ff`,
      // 2^-133 - 2 is -135: ff79, clamped to -127; 2^-133 over 2^-127 is below a quarter.
      `00 0${zeros} amax=00010000 exponent=ff79 scale=00`,
      `7f 7${zeros} amax=40c00000 exponent=0000 scale=7f`,
    ]);
  });
});

describe('gen and verify [STR-08, STR-09]', () => {
  test.each([[], ['--encoding', 'raw'], ['--stages'], ['--encoding', 'raw', '--stages']])(
    'what gen writes, verify accepts: %j',
    async (...options) => {
      const generated = await fp4(['gen', 'hif4_quantize', '-n', '900', '--seed', '3', ...options]);
      expect(generated.code).toBe(0);
      const { code, stdout, err } = await fp4(['verify', 'hif4_quantize', ...options], generated.stdout);
      expect([code, stdout.length, err]).toEqual([0, 0, 'hif4_quantize: 900 cases, 0 differ\n']);
    },
  );

  test('a difference is one line of four columns, skipped lines counted; exit 1 [STR-08]', async () => {
    const wrong = HALF_ENCODED.replace(/6/, '5');
    const input = `# kernel\n${HALF} ${HALF_ENCODED}\n\n${HALF} ${wrong}\n${HALF} 000101B0 ${HALF_ENCODED.slice(9)}\n`;
    const { code, out, err } = await fp4(['verify', 'hif4_quantize'], input);
    expect([code, out]).toEqual([1, '4\tcodes[0]\t6\t5\n5\tscale[0]\t000101b1\t000101b0\n']);
    expect(err).toBe('hif4_quantize: 3 cases, 2 differ\n');
  });

  test('a stage that differs is told where the outputs agree [STR-08]', async () => {
    const { code, out } = await fp4(['verify', 'hif4_quantize'], `${HALF} ${HALF_ENCODED} sf=3d91 e6m2=b1\n`);
    expect([code, out]).toEqual([1, '1\tsf[0]\t3d92\t3d91\n']);
  });

  test('every NaN of a type is equal, unless nan=payload [CON-03, NUM-07]', async () => {
    const input = '7fabcdef ffc1\n';
    expect((await fp4(['verify', 'f32_to_bf16'], input)).code).toBe(0);
    const kept = await fp4(['verify', 'f32_to_bf16', '--set', 'nan=payload'], input);
    expect([kept.code, kept.out]).toEqual([1, '1\ty[0]\t7feb\tffc1\n']);
  });

  test('--json puts one report on stdout and nothing on stderr [STR-08]', async () => {
    const { code, out, err } = await fp4(['verify', 'e8m0_to_f32', '--json'], '00 00400000\n7f 3f800001\n');
    expect([code, err]).toEqual([1, '']);
    expect(JSON.parse(out)).toEqual({
      function: 'e8m0_to_f32',
      parameters: {},
      lines: 2,
      differences: 1,
      first: [{ line: 2, field: 'y[0]', expected: '3f800000', found: '3f800001' }],
    });
  });

  test('shards are the whole, dealt out in turn [STR-09]', async () => {
    const whole = lines((await fp4(['gen', 'hif4_quantize', '-n', '50', '--family', 'gauss'])).out);
    const shards = await Promise.all(
      [1, 2, 3].map((i) =>
        fp4(['gen', 'hif4_quantize', '-n', '50', '--family', 'gauss', '--shard', `${i}/3`]),
      ),
    );
    const dealt = shards.map((s) => lines(s.out));
    expect(whole.map((_, j) => dealt[j % 3]![Math.floor(j / 3)])).toEqual(whole);
  });

  test('the same bytes on every run; another seed, other bytes [STR-09]', async () => {
    const run = async (seed: string) =>
      (await fp4(['gen', 'mxfp4_quantize', '-n', '2000', '--seed', seed])).out;
    const [first, again, other] = await Promise.all([run('1'), run('1'), run('2')]);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('boundary cases come first, more of them at level 2 [STR-09]', async () => {
    const run = async (level: string) =>
      (await fp4(['gen', 'hif4_quantize', '--level', level, '--inputs-only'])).out;
    const [one, two] = await Promise.all([run('1'), run('2')]);
    expect(lines(two).length).toBeGreaterThan(lines(one).length);
    expect(lines(one)[0]).toBe(Array.from({ length: 64 }, () => '0000').join(' '));
  });
});

describe('usage errors: exit 2, one clear message, nothing on stdout [STR-07, CON-02]', () => {
  test.each([
    [['eval', 'hif4_quantise'], /unknown function "hif4_quantise"; did you mean "hif4_quantize"\?/],
    [['eval', 'hif4_quantize', '--profile', 'ascent'], /unknown profile "ascent"; did you mean "ascend"\?/],
    [['eval', 'hif4_quantize', '--set', 'tie=even'], /unknown parameter "tie"; did you mean "ties"\?/],
    [['eval', 'hif4_quantize', '--set', 'ties=evne'], /ties="evne" does not exist; did you mean "even"\?/],
    [['eval', 'hif4_quantize', '--set', 'ties'], /name=value/],
    [['eval', 'hif4_quantize', '--set', '__proto__=x'], /unknown parameter "__proto__"/],
    [['eval', 'f32_to_bf16', '--profile', 'ocp'], /unknown profile "ocp"; there are none here/],
    [['eval', 'hif4_quantize', '--encoding', 'json'], /Allowed choices are text, raw/],
    [['gen', 'hif4_quantize', '-n', '1e3'], /integer/],
    [['gen', 'hif4_quantize', '-n', '-1'], /integer/],
    [['gen', 'hif4_quantize', '--seed', '18446744073709551616'], /2\^64/],
    [['gen', 'hif4_quantize', '--shard', '3/2'], /i\/n/],
    [['gen', 'hif4_quantize', '--family', 'gaus'], /did you mean "gauss"/],
    [['gen', 'hif4_quantize', '--range', '5:1', '--family', 'ladder'], /low:high/],
    [['evla', 'hif4_quantize'], /unknown command 'evla'/],
    [['eval'], /missing required argument/],
    [[], /Usage/],
  ])('%j', async (args, message) => {
    const { code, out, err } = await fp4(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/\n\s+at /);
  });

  test.each(['', ...COMMANDS])('%s --help prints its page, exit 0', async (command) => {
    const { code, out, err } = await fp4([...(command === '' ? [] : [command]), '--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Usage: fp4 ${command}`);
  });

  test('a raw record that is cut short: those before it are answered [STR-04]', async () => {
    const { code, stdout, err } = await fp4(
      ['eval', 'bf16_to_f32', '--encoding', 'raw'],
      Uint8Array.of(0x80, 0x3f, 0x00),
    );
    expect([code, [...stdout]]).toEqual([2, [0x00, 0x00, 0x80, 0x3f]]);
    expect(err).toMatch(/record 2: the input ends after 1 of its 2 bytes/);
  });
});

test('fp4 functions --json: what the contract promises of each [STR-02]', async () => {
  const { out } = await fp4(['functions', '--json']);
  const listed = JSON.parse(out);
  expect(listed.map((f: { name: string }) => f.name)).toEqual([
    'f32_to_bf16',
    'bf16_to_f32',
    ...['e2m1', 'e1m2', 'e6m2', 'e8m0', 'e4m3', 'e5m2', 'e4m3fnuz', 'e5m2fnuz'].flatMap((x) => [
      `f32_to_${x}`,
      `bf16_to_${x}`,
      `${x}_to_f32`,
    ]),
    'e6m2_to_bf16_reciprocal',
    'hif4_quantize',
    'hif4_quantize_f32',
    'hif4_dequantize',
    'mxfp4_quantize',
    'mxfp4_quantize_f32',
    'mxfp4_dequantize',
    'prune_2_4_hif4',
    'prune_2_4_mxfp4',
  ]);
  const quantizer = listed.find((f: { name: string }) => f.name === 'mxfp4_quantize_f32');
  expect(quantizer.inputs).toEqual([{ name: 'x', kind: 'word', count: 32, digits: 8 }]);
  expect(quantizer.outputs).toEqual([
    { name: 'scale', kind: 'word', count: 1, digits: 2 },
    { name: 'codes', kind: 'codes', count: 32, digits: 1 },
  ]);
  expect(quantizer.parameters.scale).toEqual({
    values: ['floor', 'ceil', 'even', 'rceil', 'nearest'],
    default: 'floor',
  });
  expect(quantizer.profiles).toContain('torchao-rceil');
  expect(quantizer.stages.map((s: { name: string }) => s.name)).toEqual([
    'amax',
    'exponent',
    'scale',
    'scaled',
    'codes',
  ]);
});
