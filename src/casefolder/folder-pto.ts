/**
 * The files of a HiF4 encoder as PTO ISA's tests name and widen them (tests/npu/a6, TQUANT): maxima and reciprocals in
 * BF16, E6M2 zero-extended to two bytes, each E1_8 bit twice, E1_16 bits as they are, and the scale field of the cube.
 * Where that generator is defective (faults L7, H12), these files are right. Clauses: spec/folders.md FOL-11.
 * @module
 */
import { Fp4Error } from '../error.ts';
import type { Field } from '../functions/field.ts';
import { placement, writeLayout } from '../layout/convert.ts';
import { blockFormat, extentOf } from '../layout/linear.ts';
import { layoutByName } from '../layout/registry.ts';
import { type FolderArray, PADDING, type Role } from './folder-array.ts';
import type { FolderJob, Grid } from './folder-job.ts';

type Made = readonly { field: Field; role: Role; words: Uint32Array }[];

/** Each bit of a byte twice, the lowest first. */
function doubledBits(byte: number): number {
  let word = 0;
  for (let k = 0; k < 8; k++) word |= ((byte >> k) & 1) * (3 << (2 * k));
  return word;
}

const BF16_NAN = 0x7fc0;
const BF16_BINADE = 0x80;
const QUADS = 16;

/** The reciprocal of each quad's whole scale, each one twice. A reciprocal of E6M2 is far from subnormal. */
function quadReciprocals(rcp: Uint32Array, e1_8: Uint32Array, e1_16: Uint32Array): Uint32Array {
  const words = new Uint32Array(rcp.length * 2 * QUADS);
  for (let unit = 0; unit < rcp.length; unit++) {
    for (let quad = 0; quad < QUADS; quad++) {
      const increment = ((e1_8[unit]! >> (quad >> 1)) & 1) + ((e1_16[unit]! >> quad) & 1);
      const word = rcp[unit] === BF16_NAN ? BF16_NAN : rcp[unit]! - increment * BF16_BINADE;
      words.fill(word, 2 * (unit * QUADS + quad), 2 * (unit * QUADS + quad + 1));
    }
  }
  return words;
}

/** FOL-11. @throws Fp4Error E_USAGE for a policy whose stages are not BF16 */
export function ptoArrays({ policy }: FolderJob, { rows, blocks }: Grid, made: Made): FolderArray[] {
  if (policy['input'] !== 'bf16' || policy['reciprocal'] !== 'bf16') {
    throw new Fp4Error(
      'E_USAGE',
      'names pto: the stages of those tests are BF16; expected input=bf16 and reciprocal=bf16',
    );
  }
  const words = (name: string): Uint32Array => made.find(({ field }) => field.name === name)!.words;
  const array = (
    name: string,
    role: Role,
    dtype: FolderArray['dtype'],
    count: number,
    digits: number,
    elements: Uint32Array,
  ): FolderArray => ({
    ...{ name, role, dtype, shape: [rows, blocks * count], count, digits },
    ...{ layout: 'linear', nibbles: 'low-first', words: elements },
  });
  return [
    array('max4', 'stage', 'bf16', 16, 4, words('max4')),
    array('max8', 'stage', 'bf16', 8, 4, words('max8')),
    array('ea', 'stage', 'u16', 1, 4, words('e6m2')),
    array('eb', 'stage', 'u16', 1, 4, words('e1_8').map(doubledBits)),
    array('ec', 'stage', 'u16', 1, 4, words('e1_16')),
    expDst(rows, blocks, words('scale')),
    array(
      'scale',
      'stage',
      'bf16',
      2 * QUADS,
      4,
      quadReciprocals(words('rcp'), words('e1_8'), words('e1_16')),
    ),
    array('fp4', 'expected', 'u4x2', 64, 1, words('codes')),
  ];
}

/** LAY-09. The scale field: cells of 16 units. */
function expDst(rows: number, blocks: number, words: Uint32Array): FolderArray {
  const format = blockFormat('hif4');
  const extent = extentOf(format, [rows, blocks * format.elements]);
  const layout = layoutByName('hif4-exp-dst', format.name);
  const scales = new Uint8Array(4 * words.length);
  words.forEach((word, i) => {
    new DataView(scales.buffer).setUint32(4 * i, word, true);
  });
  const codes = new Uint8Array((words.length * format.elements) / 2);
  const stored = writeLayout(layout, format, extent, { codes, scales })['scales']!;
  const { arrays, scale } = placement(layout, format, extent);
  const indices = new Uint32Array(stored.length).fill(PADDING);
  for (let i = 0; i < scales.length; i++) {
    indices[scale.offset(Math.floor(i / 4 / blocks), Math.floor(i / 4) % blocks, i % 4)] = i;
  }
  return {
    ...{ name: 'exp_dst', role: 'expected', dtype: 'u8', layout: layout.name, nibbles: 'low-first' },
    shape: arrays.find(({ name }) => name === 'scales')!.shape,
    ...{ count: 1, digits: 2, words: Uint32Array.from(stored) },
    places: { indices, shape: [rows, blocks, 4] },
  };
}
