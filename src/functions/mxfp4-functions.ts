/**
 * MXFP4 in the stream: mxfp4_quantize, mxfp4_quantize_f32, mxfp4_dequantize.
 * Clauses: spec/mxfp4.md.
 * @module
 */
import { dequantizeBlocks, mxfp4Codec, quantizeBlocks } from '../fast/mxfp4.ts';
import { BLOCK, decodeBlock, type EncodedBlock, encodeBlock } from '../format/mxfp4.ts';
import { type Mxfp4Policy, mxfp4Parameters, mxfp4Policy, mxfp4Profiles } from '../format/mxfp4-policy.ts';
import type { BinaryFormat } from '../number/binary-format.ts';
import { BF16, FP32 } from '../number/floats.ts';
import { decoderFunction } from './decoder-function.ts';
import { encoderFunction } from './encoder-function.ts';
import { codes, type Field, floats, type Words, word } from './field.ts';
import { decodingBoundary, encodingBoundary, narrowedToBF16 } from './mxfp4-boundary.ts';
import type { OracleFunction } from './oracle-function.ts';
import { repeat, show, showSigned } from './shown.ts';

const SCALE = word('scale', 2);
const CODES = codes('codes', BLOCK);

/** MX-16. The intermediates of the encoder, in order. */
const STAGES: readonly Field[] = [
  floats('amax', 1, FP32),
  word('exponent', 4),
  SCALE,
  floats('scaled', BLOCK, FP32),
  CODES,
];

/** The exponent of a NaN block, as it is shown. */
const NAN_EXPONENT = 0x0080;

const ENCODER_CLAUSES = [
  ...['MX-01', 'MX-04', 'MX-05', 'MX-06', 'MX-07', 'MX-08', 'MX-09', 'MX-10', 'MX-11', 'MX-12', 'MX-13'],
  ...['MX-16', 'MX-20', 'CON-04', 'CON-05', 'CON-06'],
];

function shownStages({ trace, scale, codes: encoded }: EncodedBlock): Words[] {
  if (trace === undefined) {
    // MX-13. In a NaN block every float is the canonical NaN and the exponent that of the scale ff.
    return [[FP32.canonicalNaN!], [NAN_EXPONENT], [scale], repeat(BLOCK, FP32.canonicalNaN!), encoded];
  }
  return [
    [show(FP32, trace.amax)],
    [trace.exponent & 0xffff],
    [trace.scale],
    trace.scaled.map((s) => showSigned(FP32, s)),
    trace.codes,
  ];
}

const quantizer = (name: string, from: BinaryFormat): OracleFunction =>
  encoderFunction<Mxfp4Policy>({
    name,
    summary: `one MXFP4 block from 32 ${from.name} values`,
    clauses: ENCODER_CLAUSES,
    from,
    parameters: mxfp4Parameters,
    profiles: mxfp4Profiles,
    scale: SCALE,
    codes: CODES,
    stages: () => STAGES,
    define: (values, policy) => {
      const encoded = encodeBlock(values, policy);
      return { outputs: [[encoded.scale], encoded.codes], stages: shownStages(encoded) };
    },
    quantize: quantizeBlocks,
    codec: mxfp4Codec,
    boundary: (level) => (from === FP32 ? encodingBoundary(level) : narrowedToBF16(encodingBoundary(level))),
  });

const dequantizer = decoderFunction({
  name: 'mxfp4_dequantize',
  summary: 'the 32 values of one MXFP4 block',
  clauses: ['MX-01', 'MX-02'],
  scale: SCALE,
  codes: CODES,
  encoders: mxfp4Profiles,
  values: decodeBlock,
  words: (scale, bytes) => dequantizeBlocks(Uint8Array.of(scale), bytes),
  codec: () => mxfp4Codec(mxfp4Policy()),
  boundary: decodingBoundary,
});

export const mxfp4Functions: readonly OracleFunction[] = [
  quantizer('mxfp4_quantize', BF16),
  quantizer('mxfp4_quantize_f32', FP32),
  dequantizer,
];
