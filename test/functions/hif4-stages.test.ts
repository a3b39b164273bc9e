/** How stages of HiF4 are shown where the policy leaves no number to show. */
import { expect, test } from 'vitest';
import { functionByName, policyOf } from '../../src/functions/registry.ts';

const quantizer = functionByName('hif4_quantize');
const unit = (first: number, rest: number): number[] => [first, ...Array.from({ length: 63 }, () => rest)];

test('a BF16 product that overflows is an infinity, shown as 7f800000 [HIF4-09, HIF4-16]', () => {
  // SF = bf16(7f7f x 73/512) = 7e11, e = 125: the byte 4(125 + 48) wraps to b5, so REC is 6.40625 and V x REC above 2^128.
  const policy = policyOf(quantizer, 'supernpubench');
  const { outputs, stages } = quantizer.define([unit(0x7f7f, 0xff7f)], policy);
  const shown = new Map(quantizer.stages(policy).map((field, k) => [field.name, stages[k]!]));
  expect(Array.from(shown.get('scaled')!)).toEqual(unit(0x7f800000, 0xff800000));
  expect([outputs[0]![0], ...Array.from(outputs[1]!)]).toEqual([0xffffffb5, ...unit(7, 15)]);
  expect(quantizer.fast([unit(0x7f7f, 0xff7f)], policy).map((w) => Array.from(w))).toEqual(
    outputs.map((w) => Array.from(w)),
  );
});

test('input=f32, sf=quotient, reciprocal=exact: shown as FP32, once rounded [HIF4-16]', () => {
  // Vmax 7 gives SF 1 and the scale c0. 5 over 7 would not be exact: Vmax 5, SF 5/7 = 3f36db6e (0.714285731), E6M2 0.75 = be,
  // REC 4/3 = 3faaaaab, 5 x 4/3 = 6.67 has both bits: 5/3 = 3fd55555.
  const policy = policyOf(quantizer, 'authors', { input: 'f32', sf: 'quotient', reciprocal: 'exact' });
  const { outputs, stages } = quantizer.define([unit(0x40a0, 0)], policy);
  const fields = quantizer.stages(policy);
  const shown = (name: string): string => {
    const k = fields.findIndex((field) => field.name === name);
    return stages[k]![0]!.toString(16).padStart(fields[k]!.digits, '0');
  };
  expect(
    ['max4', 'max8', 'max64', 'sf', 'e6m2', 'rcp', 'e1_8', 'e1_16', 'scaled', 'codes'].map(shown),
  ).toEqual([
    '40a00000',
    '40a00000',
    '40a00000',
    '3f36db6e',
    'be',
    '3faaaaab',
    '01',
    '0001',
    '3fd55555',
    '7',
  ]);
  expect(outputs[0]![0]!.toString(16)).toBe('101be');
});
