/** The handed third-party cases: every profile gives what its implementation gave. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeUnit, encodeUnit } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { decodeBlock, encodeBlock } from '../../src/format/mxfp4.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { bf16Value } from '../../src/format/scalar.ts';
import { encode, type FloatValue } from '../../src/number/binary-format.ts';
import { FP32 } from '../../src/number/floats.ts';

interface Output {
  scale?: string;
  codes?: string;
  f32?: string;
  error?: true;
}
interface Case {
  block: number;
  category: string;
  note: string;
  bf16: string;
  outputs: Record<string, Output>;
}

const read = (name: string): Case[] =>
  readFileSync(new URL(`../cases/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const words = (text: string): number[] => text.split(' ').map((w) => Number.parseInt(w, 16));
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const f32Bits = (values: readonly FloatValue[]): string[] =>
  values.map((v) => (v.kind === 'nan' ? 'nan' : hex(encode(FP32, v, 'even', 'nonfinite'), 8)));
const canonical = (text: string): string[] =>
  text.split(' ').map((w) => ((Number.parseInt(w, 16) & 0x7fffffff) > 0x7f800000 ? 'nan' : w));

const finite = (c: Case): boolean => c.category !== 'nonfinite';

/**
 * Every difference there is, by block and fault id (spec/profiles.md lists them with their reasons).
 * `values` alone: scale and codes agree, and the implementation's own decoder is at fault.
 */
const DEFECTS: Record<string, string[]> = {
  'authors-cuda-inner': ['495 H13'],
  'pto-isa-tmatmul': ['86 H12', '88 H11', '383 H12', '384 H12', '419 H11', '421 H11', '423 H11', '442 H11'],
  ggml: ['431.0 values D2', '431.1 values D2'],
  'triton-rtne-up': [
    ...['484.0', '485.0', '486.0', '487.0'].map((block) => `${block} values D2`),
    ...['488.0', '488.1'].map((block) => `${block} values D1`),
    ...['489.0', '489.1', '492.0'].map((block) => `${block} values D2`),
  ],
};
const defects = (name: string): string[] => (DEFECTS[name] ?? []).map((d) => d.slice(0, d.lastIndexOf(' ')));

describe('HiF4 profiles reproduce the implementations [PRO-01]', () => {
  const cases = read('hif4.jsonl');
  const answered = (name: string): Case[] => cases.filter((c) => c.outputs[name] && !c.outputs[name].error);

  test.each(['authors-numpy', 'authors-cuda-inner', 'authors-torch-bf16', 'pto-isa-tmatmul'])(
    '%s',
    (name) => {
      const policy = hif4Policy(name);
      const differing: string[] = [];
      for (const c of answered(name)) {
        const { word, codes } = encodeUnit(words(c.bf16).map(bf16Value), policy);
        const expected = c.outputs[name]!;
        const found: Output = { f32: f32Bits(decodeUnit(word, codes)).join(' ') };
        if (expected.scale !== undefined) found.scale = hex(word, 8);
        if (expected.codes !== undefined) found.codes = codes.map((d) => hex(d, 1)).join('');
        const local = name === 'authors-cuda-inner' && !finite(c); // its NaNs stay local, which no code can show
        const bits = canonical(expected.f32!).map((w, i) =>
          local && w === 'nan' ? found.f32!.split(' ')[i] : w,
        );
        const same =
          found.f32 === bits.join(' ') && found.scale === expected.scale && found.codes === expected.codes;
        if (!same) differing.push(`${c.block}`);
      }
      expect(differing).toEqual(defects(name));
    },
  );
});

describe('MXFP4 profiles reproduce the implementations [PRO-02]', () => {
  const cases = read('mxfp4.jsonl');
  const names = Object.keys(cases[0]!.outputs);

  test.each(names)('%s', (name) => {
    const policy = mxfp4Policy(name);
    const differing: string[] = [];
    for (const c of cases) {
      const expected = c.outputs[name]!;
      if (expected.f32 === undefined) continue;
      const expectedBits = canonical(expected.f32);
      for (const half of [0, 1]) {
        const slice = [32 * half, 32 * half + 32] as const;
        const x = words(c.bf16)
          .slice(...slice)
          .map(bf16Value);
        const { scale, codes } = encodeBlock(x, policy);
        if (expected.scale !== undefined) {
          const found = `${hex(scale, 2)} ${codes.map((d) => hex(d, 1)).join('')}`;
          const wanted = `${expected.scale.split(' ')[half]} ${expected.codes!.slice(...slice)}`;
          if (found !== wanted) differing.push(`${c.block}.${half}`);
        }
        const bits = f32Bits(decodeBlock(scale, codes)).join(' ');
        const wanted = expectedBits.slice(...slice).join(' ');
        if (bits !== wanted) differing.push(`${c.block}.${half} values`);
      }
    }
    expect(differing).toEqual(defects(name));
  });
});
