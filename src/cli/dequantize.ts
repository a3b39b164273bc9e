/** `fp4 dequantize`: codes and scales back to float32 in the original shape (spec/tensors.md). */
import type { Command } from 'commander';
import { dequantizeFile } from '../node/dequantize-file.ts';
import { checkOutputName, secondsSince, withProgress } from './tensor-options.ts';

export function addDequantize(program: Command): void {
  program
    .command('dequantize <input>')
    .description('turn a quantized .safetensors file back into float32, in the original shape')
    .requiredOption('-o, --output <file>', 'the .npy file to write')
    .action(async (input: string, { output }: { output: string }) => {
      const start = performance.now();
      checkOutputName(output, '.npy');
      const { format, shape } = await withProgress((onProgress) =>
        dequantizeFile({ input, output, ...(onProgress && { onProgress }) }),
      );
      const what = `float32 [${shape.join(', ')}] from ${format}`;
      process.stderr.write(`${output}: ${what}, written in ${secondsSince(start)}\n`);
    });
}
