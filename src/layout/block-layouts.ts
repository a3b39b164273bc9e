/**
 * Layouts that keep blocks in row-major order: the linear form, its mirror, and blocks that carry their scale with them.
 * Clauses: spec/layouts.md LAY-01, LAY-03 to LAY-06.
 * @module
 */
import { type CodePacking, highFirst } from './code-packing.ts';
import { type Layout, UNPADDED } from './layout.ts';
import type { BlockFormat, Extent } from './linear.ts';

function rowMajor(format: BlockFormat, extent: Extent, packing: CodePacking): ReturnType<Layout['place']> {
  const { shape, nibble } = packing(format, extent);
  const { blocks } = extent;
  const { scaleBytes } = format;
  return {
    arrays: [
      { name: 'codes', type: 'U8', shape },
      { name: 'scales', type: scaleBytes === 4 ? 'U32' : 'U8', shape: [...extent.outer, blocks] },
    ],
    code: { array: 'codes', nibble },
    scale: {
      array: 'scales',
      offset: (row, block, byte) => (row * blocks + block) * scaleBytes + byte,
    },
  };
}

const linear: Layout = {
  name: 'linear',
  clause: 'LAY-01',
  formats: ['hif4', 'mxfp4'],
  ownCodes: true,
  padding: UNPADDED,
  source: 'ours; the codes as in OCP practice, torchao, ONNX, CANN',
  place: rowMajor,
};

const highFirstCodes: Layout = {
  name: 'high-first',
  clause: 'LAY-03',
  formats: ['hif4', 'mxfp4'],
  ownCodes: true,
  padding: UNPADDED,
  source: 'big-endian nibble order, seen in some kernels; mixing the two is fault L1',
  place: (format, extent, packing) => rowMajor(format, extent, highFirst(packing)),
};

/**
 * A single array of blocks in row-major order, each of them its scale and its codes.
 * @param scaleAt byte of the scale in a block
 * @param codesAt first byte of the codes in a block
 * @param inBlock the nibble of element i in a block's codes
 */
const scaleInBlock =
  (array: string, scaleAt: number, codesAt: number, inBlock: (i: number) => number): Layout['place'] =>
  ({ elements, scaleBytes }, { outer, blocks }) => {
    const size = scaleBytes + elements / 2;
    return {
      arrays: [{ name: array, type: 'U8', shape: [...outer, blocks, size] }],
      code: {
        array,
        nibble: (row, position) => {
          const i = position % elements;
          return 2 * (size * (row * blocks + (position - i) / elements) + codesAt) + inBlock(i);
        },
      },
      scale: { array, offset: (row, block, byte) => size * (row * blocks + block) + scaleAt + byte },
    };
  };

const unit36: Layout = {
  name: 'hif4-unit36',
  clause: 'LAY-04',
  formats: ['hif4'],
  ownCodes: false,
  padding: UNPADDED,
  source: 'ours; no standard says',
  place: scaleInBlock('units', 32, 0, (i) => i),
};

const ggml: Layout = {
  name: 'ggml',
  clause: 'LAY-05',
  formats: ['mxfp4'],
  ownCodes: false,
  padding: UNPADDED,
  source: 'ggml block_mxfp4',
  // Byte j has element j below and element j + 16 above.
  place: scaleInBlock('blocks', 0, 1, (i) => (i < 16 ? 2 * i : 2 * (i - 16) + 1)),
};

const gptOss: Layout = {
  name: 'gpt-oss',
  clause: 'LAY-06',
  formats: ['mxfp4'],
  ownCodes: false,
  padding: UNPADDED,
  source: 'gpt-oss checkpoints',
  place: ({ elements }, { outer, blocks }) => ({
    arrays: [
      { name: '_blocks', type: 'U8', shape: [...outer, blocks, elements / 2] },
      { name: '_scales', type: 'U8', shape: [...outer, blocks] },
    ],
    code: { array: '_blocks', nibble: (row, position) => row * blocks * elements + position },
    scale: { array: '_scales', offset: (row, block) => row * blocks + block },
  }),
};

export const blockLayouts: readonly Layout[] = [linear, highFirstCodes, unit36, ggml, gptOss];
