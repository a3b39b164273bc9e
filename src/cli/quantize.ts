/** `fp4 quantize`: a tensor file to codes and scales, with a report of what it cost (spec/tensors.md). */
import type { Command } from 'commander';
import { type QuantizeResult, quantizeFile } from '../node/quantize-file.ts';
import { type Codec, codec, FORMATS } from '../tensor/codec.ts';
import { type PolicyOptions, withPolicy } from './options.ts';
import { axisNumber, checkOutputName, secondsSince, threadsOption, withProgress } from './tensor-options.ts';

interface QuantizeOptions extends PolicyOptions {
  output: string;
  format: string;
  axis: number;
  bf16?: boolean;
  json?: boolean;
  layout?: string;
  packAxis?: number;
  threads: number;
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(4)} %`;

function text(c: Codec, { shape, axis: along, report }: QuantizeResult): string {
  const unknown = `unknown, ${report.nonfinite} elements are not finite`;
  const sqnr = report.nonfinite > 0 ? unknown : 'none, the error is 0';
  return [
    `${c.format} (${c.profile}) of [${shape.join(', ')}] along axis ${along}`,
    `elements   ${report.elements} in ${report.blocks} blocks of ${c.blockSize}`,
    `mse        ${report.mse ?? (report.nonfinite > 0 ? unknown : 'beyond binary64')}`,
    `sqnr       ${report.sqnr_db === null ? sqnr : `${report.sqnr_db.toFixed(4)} dB`}`,
    `underflow  ${percent(report.underflow)} of the nonzero`,
    `saturated  ${percent(report.saturated)}`,
    '',
  ].join('\n');
}

export function addQuantize(program: Command): void {
  withPolicy(
    program
      .command('quantize <input>')
      .description('quantize X.npy (f2 f4 f8; u2 with --bf16) or FILE.safetensors:NAME (F16 BF16 F32 F64)')
      .requiredOption('-o, --output <file>', 'the .safetensors file to write')
      .requiredOption('-f, --format <name>', FORMATS.join(' or ')),
  )
    .option('--axis <n>', 'the axis along which blocks run; negative counts from the last', axisNumber, -1)
    .option('--bf16', 'the u2 words of a .npy file are BF16')
    .option('--layout <name>', 'how codes and scales are laid out (default: linear)')
    .option(
      '--pack-axis <n>',
      'the axis along which two codes share a byte, where it is not that of the blocks',
      axisNumber,
    )
    .addOption(threadsOption())
    .option('--json', 'the report as one JSON object on stdout')
    .action(async (input: string, options: QuantizeOptions) => {
      const start = performance.now();
      checkOutputName(options.output, '.safetensors');
      const c = codec(options.format, options.profile, options.set);
      const result = await withProgress((onProgress) =>
        quantizeFile({
          input,
          output: options.output,
          codec: c,
          axis: options.axis,
          bf16: options.bf16 === true,
          threads: options.threads,
          ...(options.layout !== undefined && { layout: options.layout }),
          ...(options.packAxis !== undefined && { packAxis: options.packAxis }),
          ...(onProgress && { onProgress }),
        }),
      );
      if (options.json) {
        const { format, profile, parameters } = c;
        const { shape, axis: along, report } = result;
        process.stdout.write(
          `${JSON.stringify({ format, profile, parameters, shape, axis: along, ...report })}\n`,
        );
      } else {
        process.stderr.write(text(c, result));
      }
      process.stderr.write(`${options.output} written in ${secondsSince(start)}\n`);
    });
}
