/**
 * The choices of an MXFP4 encoder as named parameters, and the known implementations as profiles.
 * Clauses: spec/mxfp4.md MX-20, spec/profiles.md PRO-02.
 * @module
 */
import { TIES } from '../number/round.ts';
import { defaultPolicy, type Policy, type Profile, resolvePolicy } from './policy.ts';

/** MX-20. Every choice on which implementations differ; the first value is the default, which is OCP's. */
export const mxfp4Parameters = {
  /** What the input is rounded to first (CON-04). */
  input: ['f32', 'bf16'],
  /** How the scale's exponent follows from amax (MX-05 to MX-09). */
  scale: ['floor', 'ceil', 'even', 'rceil', 'nearest'],
  /** How an element is rounded (MX-12). */
  ties: TIES,
  /** The scale of an all-zero block (MX-11). */
  'zero-scale': ['00', '7f'],
  /** An exponent out of range is clamped, or its byte wraps (MX-10). */
  'scale-range': ['clamp', 'wrap'],
  /** The smallest scale of a block that is not all zero (MX-10). */
  'scale-min': ['00', '01'],
  /** Under scale=even: whether amax, rounded, can pass the range of FP32, or is then infinite and the block NaN (MX-07). */
  'even-range': ['unbounded', 'f32'],
  /** The code of every element of a NaN block (MX-13). */
  'nan-code': ['0', '3'],
  /** The sign of zero (CON-06). */
  'zero-sign': ['keep', 'drop-input', 'drop'],
  /** NaN and infinity (CON-05). */
  nonfinite: ['nan', 'saturate', 'error', 'zero-block', 'top-scale', 'nan-scale'],
} as const;

export type Mxfp4Policy = Policy<typeof mxfp4Parameters>;
export type Mxfp4Profile = Profile<Mxfp4Policy>;

const ocp = defaultPolicy(mxfp4Parameters);
const torchao: Mxfp4Policy = { ...ocp, 'nan-code': '3' };
const microxcaling: Mxfp4Policy = { ...ocp, 'zero-sign': 'drop-input' };

/** The known encoders; the first is the default. Beyond `ocp`, a name is that of the implementation. */
export const mxfp4Profiles: readonly Mxfp4Profile[] = [
  { name: 'ocp', source: 'OCP Microscaling Formats (MX) v1.0, section 6.3', policy: ocp },
  {
    name: 'authors-numpy',
    source: "MXFP4 of the HiF4 authors' NumPy reference",
    policy: { ...ocp, 'zero-sign': 'drop-input' },
  },
  { name: 'torchao-floor', source: 'torchao, ScaleCalculationMode.FLOOR', policy: torchao },
  {
    name: 'torchao-ceil',
    source: 'torchao, ScaleCalculationMode.CEIL',
    policy: { ...torchao, scale: 'ceil' },
  },
  {
    name: 'torchao-even',
    source: 'torchao, ScaleCalculationMode.EVEN',
    policy: { ...torchao, scale: 'even', 'even-range': 'f32' },
  },
  {
    name: 'torchao-rceil',
    source: 'torchao, ScaleCalculationMode.RCEIL',
    policy: { ...torchao, scale: 'rceil' },
  },
  {
    name: 'microxcaling-nearest',
    source: 'microsoft/microxcaling, round="nearest"',
    policy: { ...microxcaling, ties: 'away' },
  },
  { name: 'microxcaling-even', source: 'microsoft/microxcaling, round="even"', policy: microxcaling },
  {
    name: 'microxcaling-floor',
    source: 'microsoft/microxcaling, round="floor"',
    policy: { ...microxcaling, ties: 'truncate' },
  },
  {
    name: 'ggml',
    source: 'ggml-org/ggml, quantize_row_mxfp4_ref',
    policy: { ...ocp, ties: 'zero', 'scale-range': 'wrap', 'zero-sign': 'drop', nonfinite: 'zero-block' },
  },
  {
    name: 'gfloat-tiestoaway',
    source: 'graphcore-research/gfloat, RoundMode.TiesToAway',
    policy: { ...ocp, ties: 'away', nonfinite: 'top-scale' },
  },
  {
    name: 'triton-rtne-up',
    source: 'triton-lang/triton, triton_kernels downcast_to_mxfp, DequantScaleRoundingMode.ROUND_UP',
    policy: { ...ocp, scale: 'rceil', 'scale-min': '01', nonfinite: 'nan-scale' },
  },
  {
    name: 'aiter-even',
    source: 'ROCm/aiter, dynamic MXFP4 quantization with even rounding of the scale',
    policy: { ...torchao, scale: 'even', 'even-range': 'f32' },
  },
];

/**
 * The policy of an MXFP4 profile with single parameters overridden.
 * @throws Fp4Error E_PROFILE, E_PARAMETER
 */
export const mxfp4Policy = (profile?: string, overrides?: Readonly<Record<string, string>>): Mxfp4Policy =>
  resolvePolicy(mxfp4Parameters, mxfp4Profiles, profile, overrides);
