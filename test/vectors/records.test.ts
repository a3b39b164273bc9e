/** Block vectors: their ids, flags and results, each judged from the text of the file and by encoders that share no code. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hif4Parameters, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters, mxfp4Profiles } from '../../src/format/mxfp4-policy.ts';
import { decodeHiF4, encodeHiF4, type HiF4Choice } from '../independent/hif4-by-thresholds.ts';
import { decodeMXFP4, encodeMXFP4, type Mxfp4Choice } from '../independent/mxfp4-by-thresholds.ts';
import { bitsOfF32, f32FromBits, hex } from '../independent/platform-floats.ts';
import { examples, page } from '../spec/page.ts';
import { type BlockTest, codes, filesOf, type VectorFile, words } from './vectors.ts';

const encoders = filesOf(/^(hif4|mxfp4)_quantize/);
const decoders = filesOf(/^(hif4|mxfp4)_dequantize/);
const pruners = filesOf(/^prune_2_4/);
const isHiF4 = (file: VectorFile): boolean => file.function.startsWith('hif4');
const fp32Words = (file: VectorFile, t: BlockTest): number[] =>
  words(t.inputs['x']!).map((w) => (file.function.endsWith('_f32') ? w : w * 65536));
const digits = (list: readonly number[]): string => list.map((c) => c.toString(16)).join('');

/** The greatest magnitude whose BF16 is finite, as FP32 bits; FP32's own when inputs stay FP32. */
const LARGEST = { bf16: 0x7f7f7fff, f32: 0x7f7fffff } as const;

describe.each([...encoders, ...decoders, ...pruners].map((file) => [file.name, file] as const))(
  '%s',
  (_, file) => {
    test('ids are the hashes that the specification says, each once [VEC-04]', () => {
      const parameters = file.function.includes('dequantize')
        ? { output: ['f32', 'bf16', 'f16'] }
        : file.function.startsWith('prune')
          ? { ties: ['lowest-index', 'highest-index'] }
          : isHiF4(file)
            ? hif4Parameters
            : mxfp4Parameters;
      const seen = new Set<string>();
      for (const { policy, tests } of file.groups) {
        const changed = Object.entries(policy)
          .filter(([name, value]) => value !== (parameters as Record<string, readonly string[]>)[name]![0])
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, value]) => `${name}=${value}`)
          .join(' ');
        for (const t of tests) {
          const text = [file.function, changed, Object.values(t.inputs).join(' ')].join('\n');
          expect(t.id).toBe(createHash('sha256').update(text).digest('hex').slice(0, 16));
          expect(seen.has(t.id)).toBe(false);
          seen.add(t.id);
        }
      }
    });

    test('fields by name, as they stand on a line of the stream [VEC-03]', () => {
      const shape = ({ kind, count, digits }: { kind: string; count: number; digits: number }): string =>
        kind === 'codes' ? `${count}` : Array.from({ length: count }, () => digits).join(' ');
      const found = (hex: string): string =>
        hex
          .split(' ')
          .map((w) => w.length)
          .join(' ');
      for (const { outputs, tests } of file.groups) {
        for (const { inputs, expected } of tests) {
          for (const field of file.inputs) expect(found(inputs[field.name]!)).toBe(shape(field));
          for (const field of expected ? outputs : [])
            expect(found(expected![field.name]!)).toBe(shape(field));
        }
      }
    });

    test('every flag that the notes explain occurs, and no other [VEC-07]', () => {
      const used = new Set(file.groups.flatMap(({ tests }) => tests.flatMap(({ flags }) => flags)));
      expect([...used].sort()).toEqual(Object.keys(file.notes).sort());
    });

    test('a result goes with what it must have [VEC-05]', () => {
      for (const { tests } of file.groups) {
        for (const { id, result, expected, error, alternatives } of tests) {
          expect([id, expected !== undefined]).toEqual([id, result !== 'invalid']);
          expect([id, error !== undefined]).toEqual([id, result === 'invalid']);
          if (result !== 'invalid')
            expect([id, alternatives !== undefined]).toEqual([id, result === 'acceptable']);
        }
      }
    });
  },
);

/** What the threshold encoder gives for finite inputs, as the fields of a vector. */
function independently(file: VectorFile, x: readonly number[], policy: Readonly<Record<string, string>>) {
  const numbers = x.map(f32FromBits);
  if (isHiF4(file)) {
    const { word, codes: c } = encodeHiF4(numbers, policy as unknown as HiF4Choice);
    return { scale: hex(word, 8), codes: digits(c) };
  }
  const { scale, codes: c } = encodeMXFP4(numbers, policy as unknown as Mxfp4Choice);
  return { scale: hex(scale, 2), codes: digits(c) };
}

describe('expected values by the threshold encoders, wherever all inputs are finite [VEC-08]', () => {
  const finite = (x: readonly number[], input: string): boolean =>
    x.every((w) => w % 2 ** 31 <= LARGEST[input as 'bf16' | 'f32']);
  const profiles = { hif4: hif4Profiles, mxfp4: mxfp4Profiles };

  test.each(encoders.map((file) => [file.name, file] as const))('%s', (_, file) => {
    let compared = 0;
    for (const { policy, tests } of file.groups) {
      for (const t of tests) {
        const x = fp32Words(file, t);
        if (!finite(x, policy['input']!)) continue;
        compared++;
        expect([t.id, t.expected]).toEqual([t.id, independently(file, x, policy)]);
        for (const { profiles: names, expected } of t.alternatives ?? []) {
          for (const name of names) {
            const other = profiles[isHiF4(file) ? 'hif4' : 'mxfp4'].find((p) => p.name === name)!.policy;
            expect([t.id, name, expected]).toEqual([t.id, name, independently(file, x, other)]);
          }
        }
      }
    }
    expect(compared).toBeGreaterThan(8);
  });

  test.each(decoders.map((file) => [file.name, file] as const))('%s into FP32', (_, file) => {
    for (const t of file.groups[0]!.tests) {
      const scale = Number.parseInt(t.inputs['scale']!, 16);
      const c = codes(t.inputs['codes']!);
      const values = isHiF4(file) ? decodeHiF4(scale, c) : decodeMXFP4(scale, c);
      const wanted = scale % 256 === 255 ? c.map(() => '7fc00000') : values.map((v) => hex(bitsOfF32(v), 8));
      expect([t.id, t.expected!['y']]).toEqual([t.id, wanted.join(' ')]);
    }
  });
});

describe('flags that the text of a test shows [VEC-07]', () => {
  const every = encoders.flatMap((file) =>
    file.groups.flatMap(({ policy, tests }) => tests.map((t) => ({ file, policy, t }))),
  );
  const check = (flag: string, holds: (one: (typeof every)[number]) => boolean | undefined): void => {
    let [withFlag, without] = [0, 0];
    for (const one of every) {
      const wanted = holds(one);
      if (wanted === undefined) continue;
      expect([one.t.id, flag, one.t.flags.includes(flag)]).toEqual([one.t.id, flag, wanted]);
      if (wanted) withFlag++;
      else without++;
    }
    expect(Math.min(withFlag, without)).toBeGreaterThan(10);
  };
  const magnitudes = ({ file, t }: (typeof every)[number]): number[] =>
    fp32Words(file, t).map((w) => w % 2 ** 31);

  test('NaNInput', () => check('NaNInput', (one) => magnitudes(one).some((m) => m > 0x7f800000)));
  test('InfInput', () => check('InfInput', (one) => magnitudes(one).includes(0x7f800000)));
  test('AllZero', () =>
    check('AllZero', (one) => {
      // Input rounding, and rules for NaN and infinity that make zeros, are the business of other tests.
      if (magnitudes(one).some((m) => m >= 0x7f800000 || (m > 0 && m < 0x00010000))) return undefined;
      return magnitudes(one).every((m) => m === 0);
    }));
  test('ScaleNaN', () =>
    check('ScaleNaN', ({ t }) => t.expected !== undefined && t.expected['scale']!.endsWith('ff')));
  test('Level2Index, Level2High, Level3Index', () => {
    const scale = ({ file, t }: (typeof every)[number]): number | undefined =>
      isHiF4(file) && t.expected !== undefined ? Number.parseInt(t.expected['scale']!, 16) : undefined;
    const on = (test: (word: number) => boolean) => (one: (typeof every)[number]) => {
      const word = scale(one);
      return word === undefined ? undefined : test(word);
    };
    check(
      'Level2Index',
      on((w) => ![0, 255].includes((w >>> 8) & 255)),
    );
    check(
      'Level2High',
      on((w) => ((w >>> 12) & 15) > 0),
    );
    check(
      'Level3Index',
      on((w) => ![0, 65535].includes(w >>> 16)),
    );
  });
  test('TieEven and TieOdd of MXFP4, in binary64', () => {
    const tieOf = (middles: readonly number[]) => (one: (typeof every)[number]) => {
      const { file, policy, t } = one;
      if (isHiF4(file) || policy['input'] !== 'f32' || t.expected === undefined) return undefined;
      const scale = Number.parseInt(t.expected['scale']!, 16);
      if (scale === 255 || magnitudes(one).some((m) => m >= 0x7f800000)) return undefined;
      return magnitudes(one).some((m) => middles.includes(f32FromBits(m) / 2 ** (scale - 127)));
    };
    check('TieEven', tieOf([0.25, 1.25, 2.5, 5]));
    check('TieOdd', tieOf([0.75, 1.75, 3.5]));
  });
});

describe('inputs with a history [VEC-08]', () => {
  const file = (name: string): VectorFile => encoders.find((f) => f.name === `${name}.json`)!;
  const find = (name: string, comment: RegExp): BlockTest =>
    file(name).groups[0]!.tests.find((t) => comment.test(t.comment))!;
  const zeros = '0'.repeat(64);

  test.each([
    ['hif4_quantize.authors', 'hif4.md', 0],
    ['hif4_quantize.ascend', 'hif4.md', 1],
    ['hif4_quantize.authors', 'hif4.md', 2],
    ['mxfp4_quantize_f32.ocp', 'mxfp4.md', 0],
    ['mxfp4_quantize_f32.torchao-rceil', 'mxfp4.md', 1],
    ['mxfp4_quantize_f32.ocp', 'mxfp4.md', 2],
  ])('%s has the worked example of %s, number %i, with its stages', (name, pageName, number) => {
    const { lines } = examples(page(pageName))[number]!;
    const x = lines.get('input')!.join(' ');
    const t = file(name).groups[0]!.tests.find(({ inputs }) => inputs['x'] === x)!;
    const said = (key: string): string => lines.get(key)!.join(key === 'codes' ? '' : ' ');
    expect(t.expected).toEqual({ scale: said(lines.has('word') ? 'word' : 'scale'), codes: said('codes') });
    for (const [key, shown] of Object.entries(t.stages!)) expect([key, shown]).toEqual([key, said(key)]);
    expect(Object.keys(t.stages!).length).toBe(lines.size - (lines.has('word') ? 3 : 2));
  });

  test('what 000000c0 with one code 2 decodes to comes back as 000101b1 and code 6 [HIF4-15]', () => {
    const t = find('hif4_quantize.authors', /^What scale word 000000c0/);
    expect(t.expected).toEqual({ scale: '000101b1', codes: `6${zeros.slice(1)}` });
    const decoded = decoders[0]!.groups[0]!.tests.find(({ inputs }) => inputs['scale'] === '000000c0')!;
    expect(decoded.expected!['y']!.slice(0, 8)).toBe('3f000000');
  });

  test('3e60 at scale 1.75 is code 0 [HIF4-15]', () => {
    const t = find('hif4_quantize.authors', /^0.21875/);
    expect([t.expected!['scale'], t.expected!['codes']![16]]).toEqual(['000101c3', '0']);
    const exact = file('hif4_quantize.parameters').groups.find(
      ({ policy }) => policy['reciprocal'] === 'exact',
    )!;
    const changed = exact.tests.find(({ comment }) => /^0.21875/.test(comment))!;
    expect(changed.expected!['codes']![16]).toBe('1');
  });

  test.each([
    ['hif4_quantize.authors', /^7.90625/, '000101c0'],
    ['hif4_quantize.authors', /^6.5625/, '000101c0'],
    ['mxfp4_quantize_f32.ocp', /^7.9999995/, '7f'],
    ['mxfp4_quantize_f32.torchao-rceil', /^96.00001/, '84'],
    ['mxfp4_quantize_f32.torchao-floor', /^150/, '84'],
    ['mxfp4_quantize_f32.ocp', /04370000|a small amax, flushed/, '06'],
  ])('%s, %s: scale %s', (name, comment, scale) => {
    expect(find(name, comment).expected!['scale']).toBe(scale);
  });
});

test('the notes name faults of the catalogue, and together all but those of layouts, of stochastic rounding, of residuals and of GRPO [VEC-07]', () => {
  const catalogue = [...page('faults.md').matchAll(/^\| ([A-NP-Z]\d+) +\|/gm)].map(([, id]) => id!);
  const notes = filesOf(/_(quantize|dequantize|to)_?.*\.any|_quantize|^prune/).flatMap((file) =>
    Object.values((file.notes ?? {}) as Record<string, { faults: string[] }>),
  );
  const caught = new Set(notes.flatMap(({ faults }) => faults));
  expect([...caught].filter((id) => !catalogue.includes(id))).toEqual([]);
  expect(catalogue.filter((id) => !caught.has(id))).toEqual(['R6', 'L2', 'L3', 'L4', 'L5', 'L7', 'P4']);
});
