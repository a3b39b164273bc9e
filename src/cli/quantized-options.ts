/**
 * Options for quantized data of foreign origin, which can stand wherever a quantized file is read.
 * Clauses: spec/tensors.md TEN-20.
 * @module
 */
import type { Command } from 'commander';
import { Fp4Error } from '../error.ts';
import type { QuantizedInput } from '../node/quantized-source.ts';
import { axisNumber, shapeSizes } from './tensor-options.ts';

export interface ForeignOptions {
  codes?: string;
  scales?: string;
  format?: string;
  shape?: number[];
  layout?: string;
  axis?: number;
  packAxis?: number;
}

const DESCRIBED = ['format', 'shape', 'layout', 'axis', 'packAxis'] as const;

/** --codes, --scales and what describes them. */
export const withForeign = (command: Command): Command =>
  command
    .option('--codes <file>', 'codes of foreign origin: .npy, FILE.safetensors:NAME, or plain bytes')
    .option('--scales <file>', 'their scales, likewise; absent where the layout keeps them among the codes')
    .option('-f, --format <name>', 'of the foreign data')
    .option('--shape <MxK>', 'original shape of the foreign data', shapeSizes)
    .option('--layout <name>', 'of the foreign data (default: linear)')
    .option('--axis <n>', 'of its blocks (default: -1)', axisNumber)
    .option(
      '--pack-axis <n>',
      'along which two codes share a byte, where it is not that of the blocks',
      axisNumber,
    );

/**
 * The quantized data that a command line names.
 * @throws Fp4Error E_USAGE where it names none, or two
 */
export function quantizedInput(file: string | undefined, options: ForeignOptions): QuantizedInput {
  const { codes, scales, format, shape, layout = 'linear', axis = -1, packAxis } = options;
  if (codes === undefined) {
    const stray = scales !== undefined ? 'scales' : DESCRIBED.find((key) => options[key] !== undefined);
    if (stray !== undefined)
      throw new Fp4Error('E_USAGE', `--${stray.replace('A', '-a')} describes foreign data; --codes names it`);
    if (file === undefined)
      throw new Fp4Error('E_USAGE', 'name a quantized .safetensors file, or --codes and --scales');
    return file;
  }
  if (file !== undefined) throw new Fp4Error('E_USAGE', `${file} and --codes: expected one of them`);
  if (format === undefined || shape === undefined) {
    throw new Fp4Error('E_USAGE', '--codes needs --format and --shape, since nothing in it says them');
  }
  return {
    codes,
    format,
    shape,
    layout,
    axis,
    ...(scales !== undefined && { scales }),
    ...(packAxis !== undefined && { packAxis }),
  };
}
