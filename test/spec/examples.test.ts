/** The worked examples of the specification, which were computed apart from this code, against the definitions. */
import { describe, expect, test } from 'vitest';
import { decodeUnit, encodeUnit } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { decodeBlock, encodeBlock } from '../../src/format/mxfp4.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { bf16Value, f32Value, SCALARS } from '../../src/format/scalar.ts';
import { encode, type FloatValue, finite } from '../../src/number/binary-format.ts';
import type { Exact } from '../../src/number/exact.ts';
import { BF16, FP32 } from '../../src/number/floats.ts';
import { type Example, examples, hex, page } from './page.ts';

const word = (text: string): number => Number.parseInt(text, 16);
const bf16 = (magnitude: Exact): string => hex(encode(BF16, finite(magnitude)), 4);
const f32 = (value: FloatValue): string => hex(encode(FP32, value, 'even', 'nonfinite'), 8);
const signed = (v: { magnitude: Exact; negative: boolean }): string => f32(finite(v.magnitude, v.negative));
const codeString = (codes: readonly number[]): string => codes.map((code) => hex(code, 1)).join('');

/** What a line says: words separated by blanks, but codes in one piece. */
const said = ({ lines }: Example): Record<string, string> =>
  Object.fromEntries([...lines].map(([name, words]) => [name, words.join(name === 'codes' ? '' : ' ')]));

function hif4Lines({ profile, overrides, lines }: Example): Record<string, string> {
  const input = lines.get('input')!;
  const unit = encodeUnit(
    input.map((w) => bf16Value(word(w))),
    hif4Policy(profile, overrides),
  );
  const t = unit.trace!;
  return {
    input: input.join(' '),
    max4: t.max4.map(bf16).join(' '),
    max8: t.max8.map(bf16).join(' '),
    max64: bf16(t.max64),
    sf: bf16(t.sf),
    e6m2: hex(t.e6m2, 2),
    rcp: bf16(t.rcp),
    e1_8: hex(t.e1_8, 2),
    e1_16: hex(t.e1_16, 4),
    scaled: t.scaled.map(signed).join(' '),
    codes: codeString(unit.codes),
    word: hex(unit.word, 8),
    decoded: decodeUnit(unit.word, unit.codes).map(f32).join(' '),
  };
}

function mxfp4Lines({ profile, overrides, lines }: Example): Record<string, string> {
  const input = lines.get('input')!;
  const block = encodeBlock(
    input.map((w) => f32Value(word(w))),
    mxfp4Policy(profile, overrides),
  );
  const t = block.trace!;
  return {
    input: input.join(' '),
    amax: f32(finite(t.amax)),
    exponent: hex(t.exponent & 0xffff, 4),
    scale: hex(t.scale, 2),
    scaled: t.scaled.map(signed).join(' '),
    codes: codeString(block.codes),
    decoded: decodeBlock(block.scale, block.codes).map(f32).join(' '),
  };
}

const hif4 = examples(page('hif4.md'));
const mxfp4 = examples(page('mxfp4.md'));
/** The clause that a line is the outcome of. */
const CLAUSES: Record<string, Record<string, string>> = {
  hif4: {
    input: 'HIF4-01',
    max4: 'HIF4-05',
    max8: 'HIF4-05',
    max64: 'HIF4-05',
    sf: 'HIF4-06',
    e6m2: 'HIF4-07',
    rcp: 'HIF4-08',
    e1_8: 'HIF4-10',
    e1_16: 'HIF4-11',
    scaled: 'HIF4-09',
    codes: 'HIF4-12',
    word: 'HIF4-02',
    decoded: 'HIF4-03',
  },
  mxfp4: {
    input: 'MX-01',
    amax: 'MX-04',
    exponent: 'MX-04',
    scale: 'MX-10',
    scaled: 'MX-12',
    codes: 'MX-12',
    decoded: 'MX-02',
  },
};

describe('the worked examples', () => {
  test('there are three of each', () => {
    expect(hif4.map((e) => e.profile)).toEqual(['authors', 'ascend', 'authors']);
    expect(mxfp4.map((e) => e.overrides)).toEqual([{}, { scale: 'rceil' }, {}]);
  });

  test('the input fills a unit or a block [HIF4-01, MX-01]', () => {
    for (const { lines } of hif4) expect(lines.get('input')!.length).toBe(64);
    for (const { lines } of mxfp4) expect(lines.get('input')!.length).toBe(32);
  });

  test('every stage has its line, in order [HIF4-16, MX-16]', () => {
    for (const { format, lines } of [...hif4, ...mxfp4]) {
      expect([...lines.keys()]).toEqual(Object.keys(CLAUSES[format]!));
    }
  });

  describe.each([...hif4, ...mxfp4])('$format $profile $overrides', (example) => {
    const found = example.format === 'hif4' ? hif4Lines(example) : mxfp4Lines(example);
    const expected = said(example);
    test.each(Object.entries(CLAUSES[example.format]!))('%s [%s]', (line) => {
      expect(found[line]).toBe(expected[line]);
    });
  });

  test('HiF4 3 under ascend: the codes that its text gives', () => {
    const input = hif4[2]!.lines.get('input')!.map((w) => bf16Value(word(w)));
    const { word: scaleWord, codes } = encodeUnit(input, hif4Policy('ascend'));
    const given = page('hif4.md').match(/codes ((?:[0-9a-f]{8}\s){7}[0-9a-f]{8})\./)!;
    expect(`${hex(scaleWord, 8)} ${codeString(codes)}`).toBe(`143543c0 ${given[1]!.replace(/\s/g, '')}`);
  });
});

describe('examples in the text', () => {
  const zeros = Array.from({ length: 64 }, () => 0);
  /** A block of FP32 words: the first, zeros, the last. */
  const block = (first: number, last = 0): FloatValue[] =>
    zeros.slice(0, 32).with(0, first).with(31, last).map(f32Value);
  const only = (code: number): number[] => zeros.with(0, code);

  test('a decoded unit encodes to another word, code and value [HIF4-15]', () => {
    const values = decodeUnit(0x000000c0, only(2));
    expect(f32(values[0]!)).toBe('3f000000');
    const again = encodeUnit(values, hif4Policy());
    const { sf, e6m2, rcp, e1_8, e1_16 } = again.trace!;
    expect([bf16(sf), hex(e6m2, 2), bf16(rcp), hex(e1_8, 2), hex(e1_16, 4)]).toEqual([
      '3d92',
      'b1',
      '414d',
      '01',
      '0001',
    ]);
    expect(hex(again.word, 8)).toBe('000101b1');
    expect(again.codes).toEqual(only(6));
    expect(f32(decodeUnit(again.word, again.codes)[0]!)).toBe('3ef00000');
  });

  test.each([
    ['bf16', 0],
    ['exact', 1],
  ])('3e60 under scale c3 with reciprocal=%s gives code %i [HIF4-15]', (reciprocal, code) => {
    // Octet 0 holds 12.25, which makes the scale c3; octet 2 holds 3e60 alone, so its exponent bits are 0.
    const x = zeros.with(0, 0x4144).with(16, 0x3e60);
    const { word: scaleWord, codes } = encodeUnit(x.map(bf16Value), hif4Policy('authors', { reciprocal }));
    expect(hex(scaleWord, 8)).toBe('000101c3');
    expect(codes[16]).toBe(code);
  });

  test.each([
    ['authors', 8],
    ['authors-numpy', 0],
    ['supernpubench', 8],
  ])('an all-zero unit under %s: 00000000, and %i for -0 [HIF4-14]', (profile, negativeZero) => {
    const { word: scaleWord, codes } = encodeUnit(zeros.with(5, 0x8000).map(bf16Value), hif4Policy(profile));
    expect(hex(scaleWord, 8)).toBe('00000000');
    expect(codes).toEqual(zeros.with(5, negativeZero));
  });

  test.each([
    ['57344', 0x48c4, '000000ff'], // 7 x 57344 is 401408; its SF is 57344
    ['65536', 0x48e0, '00010100'], // 7 x 65536 is 458752
    ['2^-49', 0x2860, '000000fc'], // 7 x 2^-49; its product with 2^-15 is below both thresholds
  ])('under wrap, an SF of %s [HIF4-07]', (_, max64, expected) => {
    const { word: scaleWord } = encodeUnit(
      zeros.with(0, max64).map(bf16Value),
      hif4Policy('authors', { 'e6m2-range': 'wrap' }),
    );
    expect(hex(scaleWord, 8)).toBe(expected);
  });

  test('only code 1 under 7f encodes to only code 6 under 7c [MX-05]', () => {
    const { scale, codes } = encodeBlock(decodeBlock(0x7f, only(1).slice(0, 32)), mxfp4Policy());
    expect(hex(scale, 2)).toBe('7c');
    expect(codes).toEqual(only(6).slice(0, 32));
  });

  test('codes that overflow FP32 when decoded [MX-02]', () => {
    const infinite = (scale: number): number[] => {
      const values = decodeBlock(
        scale,
        Array.from({ length: 8 }, (_, code) => code),
      );
      return [...values.keys()].filter((code) => f32(values[code]!) === '7f800000');
    };
    expect([0xfe, 0xfd, 0xfc].map(infinite)).toEqual([[4, 5, 6, 7], [6, 7], []]);
  });

  test.each([
    ['00', '00'],
    ['7f', '7f'],
  ])('an all-zero block under zero-scale=%s, whatever the smallest scale [MX-11]', (zeroScale, expected) => {
    const policy = mxfp4Policy('ocp', { 'zero-scale': zeroScale, 'scale-min': '01', 'scale-range': 'wrap' });
    const { scale, codes, trace } = encodeBlock(block(0x80000000), policy);
    expect(hex(scale, 2)).toBe(expected);
    expect(codeString(codes)).toBe(`8${'0'.repeat(31)}`);
    expect(hex(trace!.exponent & 0xffff, 4)).toBe('ff81');
  });

  test.each([
    ['a NaN', 0x7fc00000, {}],
    ['a byte that wraps to ff', 0x00800000, { 'scale-range': 'wrap' }], // 2^-126: -128 + 127 = -1
    ['1.75 x 2^127 under even', 0x7f600000, { scale: 'even', 'even-range': 'f32' }],
  ])('%s makes a NaN block [MX-07, MX-10, MX-13]', (_, first, overrides) => {
    const encoded = encodeBlock(
      block(first),
      mxfp4Policy('torchao-floor', overrides as Record<string, string>),
    );
    expect(hex(encoded.scale, 2)).toBe('ff');
    expect(codeString(encoded.codes)).toBe('3'.repeat(32));
  });

  test.each([
    ['ocp', 0x7f7fffff, 'ff', '0'.repeat(32)], // infinite in BF16
    ['gfloat-tiestoaway', 0xff800000, 'fe', `f${'0'.repeat(30)}8`],
    ['triton-rtne-up', 0x7f800000, 'ff', `f${'0'.repeat(30)}8`],
    ['triton-rtne-up', 0x7fc00000, '00', `7${'0'.repeat(30)}8`],
    ['ggml', 0x7f800000, '00', '0'.repeat(32)],
    ['ggml', 0x7fc00000, '00', '0'.repeat(32)],
  ])(
    '%s: first element %i, last -2^-149 under input=bf16 [CON-04, CON-05]',
    (profile, first, scale, codes) => {
      const encoded = encodeBlock(block(first, 0x80000001), mxfp4Policy(profile, { input: 'bf16' }));
      expect([hex(encoded.scale, 2), codeString(encoded.codes)]).toEqual([scale, codes]);
    },
  );

  test('-2^-149 is a -0 in BF16, and dropped as one [CON-04, CON-06]', () => {
    const policy = mxfp4Policy('authors-numpy', { input: 'bf16' });
    expect(encodeBlock(block(0, 0x80000001), policy).codes[31]).toBe(0);
    expect(encodeBlock(block(0x3f800000, 0x80000001), mxfp4Policy('authors-numpy')).codes[31]).toBe(8);
  });

  test('a NaN or an infinity makes a NaN unit [HIF4-13, CON-05]', () => {
    for (const bad of [0x7fc0, 0xff80]) {
      const unit = encodeUnit(zeros.with(0, 0x3f80).with(9, bad).map(bf16Value), hif4Policy());
      expect(hex(unit.word, 8)).toBe('000000ff');
      expect(unit.codes).toEqual(zeros);
    }
  });

  test('464 ties down to 448 in E4M3, and does not overflow; above it, it does [NUM-05]', () => {
    const into = (text: string): string =>
      hex(encode(SCALARS.e4m3, f32Value(word(text)), 'even', 'nonfinite'), 2);
    expect([into('43e80000'), into('43e80001')]).toEqual(['7e', '7f']);
  });

  test('3.0, 1.5 and 0.75 in E8M0 [NUM-02, SCA-05]', () => {
    const rules = ['even', 'away', 'up'] as const;
    const into = (text: string): string[] =>
      rules.map((ties) => hex(encode(SCALARS.e8m0, f32Value(word(text)), ties), 2));
    expect(into('40400000')).toEqual(['80', '81', '81']);
    expect(into('3fc00000')).toEqual(['80', '80', '80']);
    expect(into('3f400000')).toEqual(['7e', '7f', '7f']);
  });
});
