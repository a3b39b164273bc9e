/**
 * Single blocks of quantized data, for a person. Clauses: spec/tensors.md TEN-08.
 * @module
 */
import { excerpt, Fp4Error, printable } from '../error.ts';
import { describeHiF4 } from '../inspect/hif4.ts';
import { describeMxfp4 } from '../inspect/mxfp4.ts';
import { type Decoder, scaleAt } from '../tensor/codec.ts';
import { blocksOf, type Geometry, multiIndex } from '../tensor/geometry.ts';
import { type QuantizedInput, withQuantized } from './quantized-source.ts';

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
 * Blocks of quantized data by their numbers, which count row by row.
 * @returns lines of text
 * @throws Fp4Error E_SHAPE for a block that does not exist, and for every kind of bad input
 */
export const inspectFile = (input: QuantizedInput, blocks: readonly number[]): Promise<string[]> =>
  withQuantized(input, ({ name, decoder, geometry, reader, offsets, profile }) => {
    const { slow, k, fast } = geometry;
    const count = slow * fast * blocksOf(k, decoder.blockSize);
    return blocks.flatMap((block) => {
      if (block >= count) {
        throw new Fp4Error('E_SHAPE', `${name}: no block ${block}; there are ${count}, counted from 0`);
      }
      const bytes = new Uint8Array(decoder.blockSize / 2);
      reader.readInto(bytes, offsets.codes + block * bytes.length);
      const codes = [...bytes].flatMap((b) => [b & 15, b >> 4]);
      const scales = new Uint8Array(decoder.scaleBytes);
      reader.readInto(scales, offsets.scales + block * decoder.scaleBytes);
      const describe = decoder.format === 'hif4' ? describeHiF4 : describeMxfp4;
      const origin = profile === undefined ? '' : `, profile ${printable(excerpt(profile))}`;
      const title = `block ${block} of ${count}, ${decoder.format}${origin}`;
      return [
        `${title}: ${place(geometry, decoder, block)}`,
        '',
        ...describe(scaleAt(decoder, scales, 0), codes),
        '',
      ];
    });
  });
