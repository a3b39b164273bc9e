/**
 * The choices of a HiF4 encoder as named parameters, and the known implementations as profiles.
 * Clauses: spec/hif4.md HIF4-20, spec/profiles.md PRO-01.
 * @module
 */
import { TIES } from '../number/round.ts';
import { defaultPolicy, type Policy, type Profile, resolvePolicy } from './policy.ts';

/** HIF4-20. Every choice on which implementations differ; the first value is the default, which is the authors'. */
export const hif4Parameters = {
  /** What the input is rounded to first (CON-04). */
  input: ['bf16', 'f32'],
  /** SF: Vmax x bf16(1/7) rounded to BF16; the same not rounded; or Vmax / 7 (HIF4-06). */
  sf: ['bf16', 'product', 'quotient'],
  /** How a tie goes when SF is rounded to E6M2 (HIF4-07). */
  'e6m2-ties': ['even', 'away', 'up', 'truncate'],
  /** A scale out of range is clamped, or its byte wraps (HIF4-07). */
  'e6m2-range': ['clamp', 'wrap'],
  /** The reciprocal of the scale: rounded to BF16, or exact (HIF4-08). */
  reciprocal: ['bf16', 'exact'],
  /** Products with the reciprocal: exact, or each rounded to BF16 (HIF4-09). */
  products: ['exact', 'bf16'],
  /** How an element is rounded (HIF4-12); away-bf16 is floor(bf16(|x| + 1/2)), the addition done in BF16. */
  ties: ['away', ...TIES.filter((t) => t !== 'away'), 'away-bf16'],
  /** The sign of zero: kept; dropped where the input is -0; or dropped wherever the code is 0 (CON-06). */
  'zero-sign': ['keep', 'drop-input', 'drop'],
  /** NaN and infinity (CON-05). */
  nonfinite: ['nan', 'saturate', 'error', 'nan-saturate'],
} as const;

export type HiF4Policy = Policy<typeof hif4Parameters>;
export type HiF4Profile = Profile<HiF4Policy>;

const authors = defaultPolicy(hif4Parameters);
const ascend: HiF4Policy = { ...authors, products: 'bf16', ties: 'even' };

/** The known encoders; the first is the default. Beyond `authors` and `ascend`, a name is that of the implementation. */
export const hif4Profiles: readonly HiF4Profile[] = [
  { name: 'authors', source: 'arXiv 2602.11287 and the public code of its authors', policy: authors },
  { name: 'ascend', source: 'PTO ISA golden model, tests/npu/a6/tquant', policy: ascend },
  {
    name: 'authors-numpy',
    source: "the authors' NumPy reference, global-computing-consortium/HiFloat4",
    policy: { ...authors, 'zero-sign': 'drop-input' },
  },
  {
    name: 'authors-cuda-inner',
    source: "inner loop of the authors' CUDA kernel; a NaN stays local there, which bytes cannot show",
    policy: { ...authors, nonfinite: 'saturate' },
  },
  {
    name: 'authors-torch-bf16',
    source: "the authors' PyTorch path on BF16 tensors",
    policy: {
      ...authors,
      products: 'bf16',
      ties: 'away-bf16',
      'zero-sign': 'drop-input',
      nonfinite: 'nan-saturate',
    },
  },
  {
    name: 'pto-isa-tmatmul',
    source:
      'PTO ISA golden generator, hw-native-sys/pto-isa tests/npu/a6; its defects are in spec/profiles.md',
    policy: { ...ascend, 'zero-sign': 'drop-input' },
  },
  {
    name: 'supernpubench',
    source: 'golden generator of SuperNPUBench (by description; no cases at hand)',
    policy: { ...ascend, 'e6m2-ties': 'up', 'e6m2-range': 'wrap' },
  },
];

/**
 * The policy of a HiF4 profile with single parameters overridden.
 * @throws Fp4Error E_PROFILE, E_PARAMETER
 */
export const hif4Policy = (profile?: string, overrides?: Readonly<Record<string, string>>): HiF4Policy =>
  resolvePolicy(hif4Parameters, hif4Profiles, profile, overrides);
