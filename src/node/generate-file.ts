/**
 * Writing a .npy file of replayable inputs, a piece at a time. Clauses: spec/random.md RND-02, spec/tensors.md TEN-18.
 * @module
 */
import { ELEMENT_BYTES } from '../files/element-type.ts';
import { buildNpyHeader } from '../files/npy.ts';
import { shapeSize } from '../files/shape.ts';
import { type Draw, fillFamily } from '../random/families.ts';
import { writeWhole } from './output-file.ts';
import { type OnProgress, Pace } from './pace.ts';

const PIECE = 2 ** 16;

/**
 * Writes elements 0, 1, ... of a family in row-major order: f4, or BF16 words as u2.
 * @throws Fp4Error E_SHAPE, E_FILE
 */
export function generateFile(
  output: string,
  shape: readonly number[],
  draw: Draw & { readonly type: 'f32' | 'bf16' },
  onProgress?: OnProgress,
): Promise<void> {
  const type = draw.type === 'f32' ? 'F32' : 'U16';
  const size = ELEMENT_BYTES[type];
  const elements = shapeSize(shape, size, 'E_SHAPE', output) / size;
  return writeWhole(output, async (file) => {
    const header = buildNpyHeader(type, shape);
    file.write(header, 0);
    const pace = new Pace(elements, onProgress);
    for (let first = 0; first < elements; first += PIECE) {
      const words = new Uint32Array(Math.min(PIECE, elements - first));
      fillFamily(draw, first, words);
      const view = new DataView(new ArrayBuffer(words.length * size));
      words.forEach((word, i) => {
        if (size === 4) view.setUint32(4 * i, word, true);
        else view.setUint16(2 * i, word, true);
      });
      file.write(new Uint8Array(view.buffer), header.length + first * size);
      await pace.step(words.length);
    }
  });
}
