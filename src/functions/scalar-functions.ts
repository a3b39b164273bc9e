/**
 * The scalar conversions of the stream: f32_to_X, bf16_to_X, X_to_f32 and the reciprocal of E6M2.
 * Clauses: spec/scalars.md SCA-04, SCA-09.
 * @module
 */
import { decodeToF32, encodeF32 } from '../fast/scalar.ts';
import type { ParameterTable } from '../format/policy.ts';
import { type ConversionPolicy, convert, e6m2_to_bf16_reciprocal, SCALARS } from '../format/scalar.ts';
import { type BinaryFormat, codeBits } from '../number/binary-format.ts';
import { BF16, FP32 } from '../number/floats.ts';
import { TIES } from '../number/round.ts';
import { floats } from './field.ts';
import type { AnyPolicy, OracleFunction } from './oracle-function.ts';
import { codesOf, edgesOf } from './scalar-boundary.ts';

const NAN_VALUES = ['canonical', 'payload'] as const;

const widening: ParameterTable = {};
const narrowing: ParameterTable = { ties: TIES, overflow: ['saturate', 'nonfinite'] };

/** Everything a conversion does not leave open, for the definition. A widening is exact and keeps infinities. */
const complete = (policy: AnyPolicy): ConversionPolicy =>
  ({ ties: 'even', overflow: 'nonfinite', nan: 'canonical', ...policy }) as ConversionPolicy;

/** NUM-07. The fast path's own rule for a NaN whose payload is kept; undefined for anything else. */
function keptNaN(from: BinaryFormat, code: number, policy: AnyPolicy): number | undefined {
  if (policy['nan'] !== 'payload') return undefined;
  const wide = from === BF16 ? code * 0x10000 : code;
  if ((wide & 0x7fffffff) <= 0x7f800000) return undefined;
  return from === BF16 ? (wide | 0x00400000) >>> 0 : (wide >>> 16) | 0x40;
}

function conversion(
  name: string,
  from: BinaryFormat,
  to: BinaryFormat,
  clauses: string[],
  parameters: ParameterTable,
): OracleFunction {
  const convertFast = (code: number, policy: AnyPolicy): number => {
    const kept = keptNaN(from, code, policy);
    if (kept !== undefined) return kept;
    if (to === FP32) return from === BF16 ? decodeToF32(BF16, code) : decodeToF32(from, code);
    const { ties, overflow } = complete(policy);
    return encodeF32(to, from === BF16 ? decodeToF32(BF16, code) : code, ties, overflow);
  };
  return {
    name,
    summary: `${from.name} to ${to.name}`,
    clauses: ['NUM-04', 'NUM-05', 'SCA-09', ...clauses],
    parameters,
    profiles: [],
    inputs: [floats('x', 1, from)],
    outputs: () => [floats('y', 1, to)],
    stages: () => [],
    define: ([x], policy) => ({ outputs: [[convert(from, to, x![0]!, complete(policy))]], stages: [] }),
    fast: ([x], policy) => [[convertFast(x![0]!, policy)]],
    boundary: (level) => (codeBits(from) <= 8 ? codesOf(from) : edgesOf(from, to, level)),
  };
}

const BF16_CONVERSIONS: readonly OracleFunction[] = [
  conversion('f32_to_bf16', FP32, BF16, ['NUM-07'], {
    ties: TIES,
    overflow: ['nonfinite', 'saturate'],
    nan: NAN_VALUES,
  }),
  conversion('bf16_to_f32', BF16, FP32, ['NUM-07'], { nan: NAN_VALUES }),
];

const CLAUSE: Record<keyof typeof SCALARS, string[]> = {
  e2m1: ['SCA-01'],
  e1m2: ['SCA-02'],
  e6m2: ['SCA-03', 'NUM-06'],
  e8m0: ['SCA-05', 'NUM-06'],
  e4m3: ['SCA-06'],
  e5m2: ['SCA-07'],
  e4m3fnuz: ['SCA-08'],
  e5m2fnuz: ['SCA-08'],
};

const SMALL_CONVERSIONS: readonly OracleFunction[] = Object.entries(SCALARS).flatMap(([name, format]) => {
  const clauses = CLAUSE[name as keyof typeof SCALARS];
  return [
    conversion(`f32_to_${name}`, FP32, format, clauses, narrowing),
    conversion(`bf16_to_${name}`, BF16, format, clauses, narrowing),
    conversion(`${name}_to_f32`, format, FP32, clauses, widening),
  ];
});

/** SCA-04. The significands of bf16(1/E6M2) by the two fraction bits; the exponent is 48 - e. */
const RECIPROCALS = [0x3f80, 0x3f4d, 0x3f2b, 0x3f12];

const reciprocal: OracleFunction = {
  name: 'e6m2_to_bf16_reciprocal',
  summary: 'bf16(1 / E6M2)',
  clauses: ['SCA-04'],
  parameters: {},
  profiles: [],
  inputs: [floats('x', 1, SCALARS.e6m2)],
  outputs: () => [floats('y', 1, BF16)],
  stages: () => [],
  define: ([x]) => ({ outputs: [[e6m2_to_bf16_reciprocal(x![0]!)]], stages: [] }),
  fast: ([x]) => [[x![0] === 0xff ? 0x7fc0 : RECIPROCALS[x![0]! & 3]! + (48 - (x![0]! >> 2)) * 0x80]],
  boundary: () => codesOf(SCALARS.e6m2),
};

export const scalarFunctions: readonly OracleFunction[] = [
  ...BF16_CONVERSIONS,
  ...SMALL_CONVERSIONS,
  reciprocal,
];
