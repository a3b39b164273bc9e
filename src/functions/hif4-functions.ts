/**
 * HiF4 in the stream: hif4_quantize, hif4_quantize_f32, hif4_dequantize.
 * Clauses: spec/hif4.md.
 * @module
 */
import { dequantizeUnits, hif4Codec, quantizeUnits } from '../fast/hif4.ts';
import { decodeUnit, type EncodedUnit, encodeUnit, UNIT } from '../format/hif4.ts';
import { type HiF4Policy, hif4Parameters, hif4Policy, hif4Profiles } from '../format/hif4-policy.ts';
import type { BinaryFormat } from '../number/binary-format.ts';
import { BF16, FP32 } from '../number/floats.ts';
import { decoderFunction } from './decoder-function.ts';
import { encoderFunction } from './encoder-function.ts';
import { codes, type Field, floats, type Words, word } from './field.ts';
import { decodingBoundary, encodingBoundary, widened } from './hif4-boundary.ts';
import type { OracleFunction } from './oracle-function.ts';
import { repeat, show, showSigned } from './shown.ts';

const SCALE = word('scale', 8);
const CODES = codes('codes', UNIT);

const ENCODER_CLAUSES = [
  ...[
    'HIF4-01',
    'HIF4-02',
    'HIF4-05',
    'HIF4-06',
    'HIF4-07',
    'HIF4-08',
    'HIF4-09',
    'HIF4-10',
    'HIF4-11',
    'HIF4-12',
  ],
  ...['HIF4-13', 'HIF4-14', 'HIF4-16', 'HIF4-20', 'CON-04', 'CON-05', 'CON-06'],
];

/** HIF4-16. What a stage is shown as: the type the policy rounds it to, else FP32. */
function stageFormats(policy: HiF4Policy): { max: BinaryFormat; sf: BinaryFormat; rcp: BinaryFormat } {
  return {
    max: policy.input === 'bf16' ? BF16 : FP32,
    sf: policy.sf === 'bf16' ? BF16 : FP32,
    rcp: policy.reciprocal === 'bf16' ? BF16 : FP32,
  };
}

/** HIF4-16. The intermediates of the encoder, in order. */
function stageFields(policy: HiF4Policy): Field[] {
  const { max, sf, rcp } = stageFormats(policy);
  return [
    floats('max4', 16, max),
    floats('max8', 8, max),
    floats('max64', 1, max),
    floats('sf', 1, sf),
    word('e6m2', 2),
    floats('rcp', 1, rcp),
    word('e1_8', 2),
    word('e1_16', 4),
    floats('scaled', UNIT, FP32),
    CODES,
  ];
}

function shownStages({ trace, codes: encoded }: EncodedUnit, policy: HiF4Policy): Words[] {
  const { max, sf, rcp } = stageFormats(policy);
  if (trace === undefined) {
    // HIF4-13. In a NaN unit every float is the canonical NaN, the scale ff, the rest 0.
    const nan = (format: BinaryFormat, count: number): number[] => repeat(count, format.canonicalNaN!);
    return [
      nan(max, 16),
      nan(max, 8),
      nan(max, 1),
      nan(sf, 1),
      [0xff],
      nan(rcp, 1),
      [0],
      [0],
      nan(FP32, UNIT),
      encoded,
    ];
  }
  return [
    trace.max4.map((m) => show(max, m)),
    trace.max8.map((m) => show(max, m)),
    [show(max, trace.max64)],
    [show(sf, trace.sf)],
    [trace.e6m2],
    [show(rcp, trace.rcp)],
    [trace.e1_8],
    [trace.e1_16],
    trace.scaled.map((s) => showSigned(FP32, s)),
    trace.codes,
  ];
}

const quantizer = (name: string, from: BinaryFormat): OracleFunction =>
  encoderFunction<HiF4Policy>({
    name,
    summary: `one HiF4 unit from 64 ${from.name} values`,
    clauses: ENCODER_CLAUSES,
    from,
    parameters: hif4Parameters,
    profiles: hif4Profiles,
    scale: SCALE,
    codes: CODES,
    stages: stageFields,
    define: (values, policy) => {
      const encoded = encodeUnit(values, policy);
      return { outputs: [[encoded.word], encoded.codes], stages: shownStages(encoded, policy) };
    },
    quantize: quantizeUnits,
    codec: hif4Codec,
    boundary: (level) => (from === BF16 ? encodingBoundary(level) : widened(encodingBoundary(level))),
  });

const dequantizer = decoderFunction({
  name: 'hif4_dequantize',
  summary: 'the 64 values of one HiF4 unit',
  clauses: ['HIF4-01', 'HIF4-02', 'HIF4-03'],
  scale: SCALE,
  codes: CODES,
  encoders: hif4Profiles,
  values: decodeUnit,
  words: (scale, bytes) => dequantizeUnits(Uint32Array.of(scale), bytes),
  codec: () => hif4Codec(hif4Policy()),
  boundary: decodingBoundary,
});

export const hif4Functions: readonly OracleFunction[] = [
  quantizer('hif4_quantize', BF16),
  quantizer('hif4_quantize_f32', FP32),
  dequantizer,
];
