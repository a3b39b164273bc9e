/**
 * Single blocks of a quantized file, for a person. Clauses: spec/tensors.md TEN-08.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { describeHiF4 } from '../inspect/hif4.ts';
import { describeMxfp4 } from '../inspect/mxfp4.ts';
import { type Decoder, scaleAt } from '../tensor/codec.ts';
import { blocksOf, type Geometry, multiIndex } from '../tensor/geometry.ts';
import { parseQuantizedHeader } from '../tensor/quantized-header.ts';
import { readSafetensorsHeader, tensorName, withInput } from './tensor-file.ts';

/** Which elements of the original tensor a block holds: [3, 64:128]. */
function place(g: Geometry, { blockSize }: Decoder, block: number): string {
  const inRow = blocksOf(g.k, blockSize);
  const first = (block % inRow) * blockSize;
  const index: (number | string)[] = multiIndex(g, Math.floor(block / inRow), first);
  index[g.axis] = `${first}:${Math.min(first + blockSize, g.k)}`;
  const padding = Math.max(first + blockSize - g.k, 0);
  return `elements [${index.join(', ')}]${padding > 0 ? `, then ${padding} of padding` : ''}`;
}

/**
 * The blocks of a quantized file by their numbers, which count row by row.
 * @returns lines of text
 * @throws Fp4Error E_SHAPE for a block that does not exist, and for every kind of bad file
 */
export function inspectFile(input: string, blocks: readonly number[]): Promise<string[]> {
  const { path, kind, tensor } = tensorName(input);
  if (kind !== 'safetensors' || tensor !== undefined) {
    throw new Fp4Error('E_USAGE', `${input}: expected a quantized .safetensors file, or - for stdin`);
  }
  return withInput(path, (file) => {
    const { decoder, geometry, offsets, metadata } = parseQuantizedHeader(readSafetensorsHeader(file), path);
    const { slow, k, fast } = geometry;
    const count = slow * fast * blocksOf(k, decoder.blockSize);
    return blocks.flatMap((block) => {
      if (block >= count) {
        throw new Fp4Error('E_SHAPE', `${path}: no block ${block}; there are ${count}, counted from 0`);
      }
      const codeBytes = decoder.blockSize / 2;
      const bytes = file.read(offsets.codes + block * codeBytes, codeBytes);
      const codes = [...bytes].flatMap((b) => [b & 15, b >> 4]);
      const scales = file.read(offsets.scales + block * decoder.scaleBytes, decoder.scaleBytes);
      const describe = decoder.format === 'hif4' ? describeHiF4 : describeMxfp4;
      const title = `block ${block} of ${count}, ${decoder.format}, profile ${metadata.get('fp4.profile')}`;
      return [
        `${title}: ${place(geometry, decoder, block)}`,
        '',
        ...describe(scaleAt(decoder, scales, 0), codes),
        '',
      ];
    });
  });
}
