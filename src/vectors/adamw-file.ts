/**
 * Vectors of AdamW and of clipping: every kernel and option, in both types, and what is refused.
 * Clauses: spec/adamw.md ADW-01 to ADW-12.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { type AdamWConfig, KERNELS, type Kernel } from '../grpo/adamw.ts';
import { parseAdamWRecord, runAdamW } from '../grpo/adamw-record.ts';
import { clipByNorm, NORMS, totalNorm } from '../grpo/clip.ts';
import { DTYPES, type Dtype } from '../grpo/float-arithmetic.ts';
import { formatHexNumbers } from '../grpo/hex-numbers.ts';
import { type Family, fillFamily } from '../random/families.ts';
import type { PackContext } from './block-cases.ts';
import { idOf } from './hash.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

/** Values of a family in a type; binary64 ones divided by 3, so that they have all their bits. */
function drawn(
  context: PackContext,
  family: Family,
  operand: number,
  count: number,
  dtype: Dtype,
): Float64Array {
  const words = new Uint32Array(count);
  fillFamily({ family, type: 'f32', seed: context.seed, operand, channels: count }, 0, words);
  const values = Float64Array.from(new Float32Array(words.buffer));
  return dtype === 'float32' ? values : values.map((x) => x / 3);
}

const CONFIGS: readonly { readonly comment: string; readonly config: Partial<AdamWConfig> }[] = [
  { comment: 'every default', config: {} },
  {
    comment: 'no decay, the first moment from half way',
    config: { lr: 0.1, betas: [0.5, 0.9], weight_decay: 0 },
  },
  { comment: 'the first moment from the gradient', config: { lr: 0.01, betas: [0.4, 0.7], eps: 1e-15 } },
  { comment: 'amsgrad', config: { lr: 0.001, betas: [0.9, 0.95], amsgrad: true } },
  { comment: 'maximize, a large eps', config: { lr: 0.001, betas: [0.99, 0.9999], eps: 1, maximize: true } },
];

/** One whole register and a tail. */
const COUNT = 11;
const STEPS = 2;

function adamwTest(context: PackContext, dtype: Dtype, kernel: Kernel, chosen: (typeof CONFIGS)[number]) {
  const hex = (family: Family, operand: number): string[] =>
    formatHexNumbers(drawn(context, family, operand, COUNT, dtype), dtype);
  const steps = Array.from({ length: STEPS }, (_, t) => {
    const grad = hex(t === 0 ? 'gauss' : 'zeros-mixed', t + 1);
    // Roots of someone else, so that it can be told whether they are taken: those of a step that is no root at all.
    return kernel === 'single-tensor' && t === 1 ? { grad, sqrt: hex('gauss', 7).map(positive) } : { grad };
  });
  const record = { config: chosen.config, dtype, param: hex('gauss', 0), steps };
  const { steps: expected } = runAdamW(parseAdamWRecord(record, ''), kernel) as { steps: object[] };
  const roots = kernel === 'single-tensor' ? ['ADW-08'] : [];
  return {
    id: idOf(context.sha256, 'adamw', kernel, JSON.stringify(record)),
    comment: chosen.comment,
    clauses: [
      ...['ADW-01', 'ADW-02', 'ADW-03', 'ADW-04', 'ADW-05', 'ADW-11', ...roots],
      ...(kernel === 'fused' ? ['ADW-06'] : []),
      ...(chosen.config.amsgrad ? ['ADW-07'] : []),
    ],
    kernel,
    record,
    expected,
  };
}

/** The same word without its sign. */
const positive = (word: string): string => (Number.parseInt(word[0]!, 16) & 7).toString(16) + word.slice(1);

const CLIPPED = [
  { comment: 'larger than the bound', family: 'gauss', max_norm: 0.5, sizes: [9, 3] },
  { comment: 'smaller than the bound', family: 'gauss', max_norm: 100, sizes: [8] },
  { comment: 'no power of two: reciprocal, then product', family: 'gauss', max_norm: 0.3, sizes: [13] },
  { comment: 'wide exponents', family: 'ladder', max_norm: 1, sizes: [16, 16, 5] },
] as const;

function clipTests(context: PackContext, dtype: Dtype) {
  return CLIPPED.flatMap(({ comment, family, max_norm, sizes }) =>
    NORMS.map((norm) => {
      const grads = sizes.map((size, j) => drawn(context, family, j, size, dtype));
      const clipped = clipByNorm(grads, max_norm, dtype, totalNorm(grads, dtype, norm));
      const given = { norm, dtype, max_norm, grads: grads.map((g) => formatHexNumbers(g, dtype)) };
      const [total, coefficient] = formatHexNumbers(
        Float64Array.of(clipped.norm, clipped.coefficient),
        dtype,
      );
      return {
        id: idOf(context.sha256, 'clip', JSON.stringify(given)),
        comment,
        clauses: ['ADW-09', 'ADW-10'],
        ...given,
        expected: {
          total_norm: total,
          coefficient,
          grads: clipped.grads.map((g) => formatHexNumbers(Float64Array.from(g), dtype)),
        },
      };
    }),
  );
}

const REFUSED: readonly { readonly comment: string; readonly record: unknown }[] = [
  { comment: 'no such name', record: { config: { weight_decya: 0 }, param: [], steps: [] } },
  { comment: 'a beta of 1', record: { config: { betas: [0.9, 1] }, param: [], steps: [] } },
  { comment: 'capturable', record: { config: { capturable: true }, param: [], steps: [] } },
  { comment: 'a dtype that is not modelled', record: { dtype: 'bfloat16', param: [], steps: [] } },
  {
    comment: 'digits of the other type',
    record: { dtype: 'float32', param: ['3ff0000000000000'], steps: [] },
  },
  { comment: 'no hex', record: { dtype: 'float32', param: ['3f80000g'], steps: [] } },
  { comment: 'lengths differ', record: { dtype: 'float32', param: ['3f800000'], steps: [{ grad: [] }] } },
  { comment: 'no steps', record: { dtype: 'float32', param: [] } },
];

function refusedTest(context: PackContext, { comment, record }: (typeof REFUSED)[number]) {
  try {
    parseAdamWRecord(record, '');
  } catch (error) {
    if (!(error instanceof Fp4Error)) throw error;
    const id = idOf(context.sha256, 'adamw', JSON.stringify(record));
    return {
      id,
      comment,
      clauses: ['ADW-02', 'ADW-12'],
      record,
      result: 'invalid',
      error: error.code,
      exit: 2,
    };
  }
  throw new Error(`${comment}: accepted`);
}

export function adamwFile(context: PackContext) {
  const runs = DTYPES.flatMap((dtype) =>
    KERNELS.flatMap((kernel) => CONFIGS.map((chosen) => adamwTest(context, dtype, kernel, chosen))),
  );
  return {
    schema: SCHEMA,
    kind: 'adamw' as const,
    generator: context.generator,
    groups: [
      { subject: 'adamw', clauses: ['ADW-11', 'ADW-12'], tests: runs },
      {
        subject: 'clip',
        clauses: ['ADW-09', 'ADW-10'],
        tests: DTYPES.flatMap((dtype) => clipTests(context, dtype)),
      },
      { subject: 'refused', clauses: ['ADW-12'], tests: REFUSED.map((one) => refusedTest(context, one)) },
    ],
  } satisfies VectorFile & Record<string, unknown>;
}
