/** `fp4 verify quantize X Q`: what someone else made of a tensor, judged block by block (spec/tensors.md TEN-22). */
import { Fp4Error } from '../error.ts';
import { differingBlocks, incomparable } from '../node/diff-quantized.ts';
import { quantizedInMemory } from '../node/quantize-file.ts';
import { type QuantizedSource, withQuantized } from '../node/quantized-source.ts';
import type { ReportedDifference, VerifySummary } from '../node/stream.ts';
import { codec } from '../tensor/codec.ts';
import { blocksOf } from '../tensor/geometry.ts';
import type { PolicyOptions } from './options.ts';
import { type ForeignOptions, quantizedInput } from './quantized-options.ts';
import { withProgress } from './tensor-options.ts';

export interface VerifyTensorOptions extends PolicyOptions, ForeignOptions {
  bf16?: boolean;
}

/** The policy to judge by: the one asked for, else the one that the file says it was made with. */
function judge({ decoder: { format }, profile, parameters }: QuantizedSource, options: VerifyTensorOptions) {
  const asked = options.profile !== undefined || Object.keys(options.set).length > 0;
  return asked ? codec(format, options.profile, options.set) : codec(format, profile, parameters);
}

/**
 * Tells of the first wrong field of each block that differs.
 * @returns blocks compared and blocks that differ, and the parameters that were judged by
 */
export const verifyTensor = (
  input: string,
  quantized: string | undefined,
  options: VerifyTensorOptions,
  tell: (difference: ReportedDifference) => void | Promise<void>,
): Promise<{ summary: VerifySummary; parameters: Readonly<Record<string, string>> }> =>
  withQuantized(quantizedInput(quantized, options), async (found) => {
    const judging = judge(found, options);
    const job = { input, codec: judging, axis: found.geometry.axis, bf16: options.bf16 === true };
    const expected = await withProgress((onProgress) =>
      quantizedInMemory({ ...job, ...(onProgress && { onProgress }) }),
    );
    const [reason] = incomparable(expected, found);
    if (reason !== undefined) {
      throw new Fp4Error('E_SHAPE', `${input} and ${found.name} do not belong together: ${reason}`);
    }
    let last = -1;
    let differences = 0;
    for await (const { block, field, a, b } of differingBlocks(expected, found)) {
      if (block === last) continue;
      last = block;
      differences++;
      await tell({ line: block, field, expected: a, found: b });
    }
    const { slow, k, fast } = found.geometry;
    const lines = slow * fast * blocksOf(k, found.decoder.blockSize);
    return { summary: { lines, differences }, parameters: judging.parameters };
  });
