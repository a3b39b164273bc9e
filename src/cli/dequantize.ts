/** `fp4 dequantize`: codes and scales back to float32 in the original shape (spec/tensors.md). */
import type { Command } from 'commander';
import { dequantizeFile } from '../node/dequantize-file.ts';
import { type ForeignOptions, quantizedInput, withForeign } from './quantized-options.ts';
import { checkOutputName, secondsSince, threadsOption, withProgress } from './tensor-options.ts';

export function addDequantize(program: Command): void {
  withForeign(
    program
      .command('dequantize [input]')
      .description('turn a quantized .safetensors file, or foreign codes and scales, back into float32')
      .requiredOption('-o, --output <file>', 'the .npy file to write')
      .addOption(threadsOption()),
  ).action(
    async (
      file: string | undefined,
      { output, threads, ...foreign }: ForeignOptions & { output: string; threads: number },
    ) => {
      const start = performance.now();
      const input = quantizedInput(file, foreign);
      checkOutputName(output, '.npy');
      const { format, shape } = await withProgress((onProgress) =>
        dequantizeFile({ input, output, threads, ...(onProgress && { onProgress }) }),
      );
      const what = `float32 [${shape.join(', ')}] from ${format}`;
      process.stderr.write(`${output}: ${what}, written in ${secondsSince(start)}\n`);
    },
  );
}
