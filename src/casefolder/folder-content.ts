/**
 * What a case folder holds, from its inputs: the expected outputs and stages in the order in which an encoder makes them.
 * Clauses: spec/folders.md FOL-03, FOL-04, FOL-08, FOL-09, FOL-10.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { valuesOf } from '../fast/f32.ts';
import type { Field, Words } from '../functions/field.ts';
import { unpack } from '../functions/packing.ts';
import { answer } from '../functions/session.ts';
import { placement, writeLayout } from '../layout/convert.ts';
import type { StoredArray } from '../layout/layout.ts';
import { blockFormat, extentOf } from '../layout/linear.ts';
import { layoutByName } from '../layout/registry.ts';
import { quantizeTensor } from '../tensor/quantize.ts';
import { type FolderArray, fieldArray, PADDING, type Places, type Role } from './folder-array.ts';
import { flagsOf } from './folder-flags.ts';
import { blockInputs, type FolderInputs } from './folder-inputs.ts';
import { cellCount, checkForm, type FolderJob } from './folder-job.ts';
import { ptoArrays } from './folder-pto.ts';

export interface FolderContent {
  /** Inputs, then expected outputs and stages in the encoder's order. */
  readonly arrays: readonly FolderArray[];
  /** A number a case. */
  readonly flags: Uint32Array;
}

/** HIF4-02. An output that is no stage by name is made of stages; it stands after the last of them. */
const MADE_OF: Readonly<Record<string, string>> = { scale: 'e1_16' };

/** Outputs and stages of every block, gathered field by field. */
class Gathered {
  readonly outputs: readonly Field[];
  readonly stages: readonly Field[];
  readonly words: ReadonlyMap<Field, Uint32Array>;
  readonly flags: Uint32Array;

  constructor(job: FolderJob, inputs: FolderInputs, withStages: boolean) {
    const { function: f, policy } = job;
    const { rows, blocks } = inputs.grid;
    const cells = cellCount(inputs.grid);
    this.outputs = f.outputs(policy);
    const names = this.outputs.map((field) => field.name);
    this.stages = withStages ? f.stages(policy) : [];
    const fields = [...this.outputs, ...this.stages.filter((field) => !names.includes(field.name))];
    this.words = new Map(fields.map((field) => [field, new Uint32Array(cells * field.count)]));
    this.flags = new Uint32Array(cells);
    for (let row = 0, cell = 0; row < rows; row++) {
      for (let block = 0; block < blocks; block++, cell++) {
        const operands = blockInputs(job, inputs, row, block);
        const found = answerAt(job, operands, this.stages.length > 0, row, block, blocks);
        this.#keep(this.outputs, found.outputs, cell);
        this.#keep(this.stages, found.stages, cell);
        this.flags[cell] = flagsOf(inputs, row, block, f.inputs, operands, this.outputs, found.outputs);
      }
    }
  }

  #keep(fields: readonly Field[], values: readonly Words[], cell: number): void {
    for (const [k, field] of fields.entries()) this.words.get(field)?.set(values[k]!, cell * field.count);
  }

  /** FOL-04. Every field, in the order in which the encoder makes them. */
  ordered(): { field: Field; role: Role; words: Uint32Array }[] {
    const order = [...this.stages];
    for (const output of this.outputs) {
      const stage = order.findIndex((field) => field.name === output.name);
      if (stage >= 0) {
        order[stage] = output;
        continue;
      }
      const last = order.findIndex((field) => field.name === MADE_OF[output.name]);
      order.splice(last >= 0 ? last + 1 : order.length, 0, output);
    }
    return order.map((field) => {
      const role = this.outputs.includes(field) ? 'expected' : 'stage';
      return { field, role, words: this.words.get(field)! };
    });
  }
}

/** The answer to one block; a refusal says which. */
function answerAt(
  job: FolderJob,
  operands: readonly Uint32Array[],
  withStages: boolean,
  row: number,
  block: number,
  blocks: number,
) {
  try {
    return answer(job.function, job.policy, operands, withStages);
  } catch (error) {
    if (!(error instanceof Fp4Error)) throw error;
    const where = blocks === 1 ? `case ${row}` : `row ${row}, block ${block}`;
    throw new Fp4Error(error.code, `${where}: ${error.message}`);
  }
}

const inputArrays = (job: FolderJob, { grid, operands }: FolderInputs): FolderArray[] =>
  job.function.inputs.map((field, k) => fieldArray(field, 'input', grid.rows, operands[k]!));

/** FOL-08. The quantized tensor in the layout that is asked for. */
function tensorArrays(job: FolderJob, { grid, operands }: FolderInputs): FolderArray[] {
  const format = blockFormat(job.format!);
  const shape = [grid.rows, job.shape![1]];
  const narrow = job.function.inputs[0]!.digits === 4;
  const values = Float64Array.from(valuesOf(narrow ? operands[0]!.map((w) => w << 16) : operands[0]!));
  const { tensor } = quantizeTensor(values, shape, 1, format.name, undefined, job.policy);
  const layout = layoutByName(job.layout, format.name);
  const extent = extentOf(format, shape);
  const stored = writeLayout(layout, format, extent, tensor);
  const placed = placement(layout, format, extent);
  const places = permuted(placed.arrays, placed.scale, grid, format.scaleBytes);
  const arrays = placed.arrays.map((array): FolderArray => {
    const common = { name: array.name, role: 'expected', layout: layout.name } as const;
    if (array.name === placed.code.array && layout.ownCodes && array.name === 'codes') {
      const nibbles = layout.name === 'high-first' ? 'high-first' : 'low-first';
      const words = Uint32Array.from(unpack(tensor.codes));
      const codesShape = [grid.rows, grid.blocks * format.elements];
      return {
        ...common,
        dtype: 'u4x2',
        shape: codesShape,
        count: format.elements,
        digits: 1,
        nibbles,
        words,
      };
    }
    const bytes = stored[array.name]!;
    const wide = array.type === 'U32';
    return {
      ...common,
      dtype: wide ? 'u32' : 'u8',
      shape: array.shape,
      count: array.shape.length === 3 && !(places && array.name === placed.scale.array) ? array.shape[2]! : 1,
      digits: wide ? 8 : 2,
      nibbles: 'low-first',
      words: wide ? littleEndianWords(bytes) : Uint32Array.from(bytes),
      ...(places && array.name === placed.scale.array && { places }),
    };
  });
  // FOL-04. Scales are made before codes.
  const scales = arrays.findIndex((array) => array.name === placed.scale.array);
  return [arrays[scales]!, ...arrays.filter((_, k) => k !== scales)];
}

function littleEndianWords(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true));
}

/** FOL-09. The places of scales that stand in tiles. */
function permuted(
  arrays: readonly StoredArray[],
  scale: { array: string; offset: (row: number, block: number, byte: number) => number },
  { rows, blocks }: { rows: number; blocks: number },
  scaleBytes: number,
): Places | undefined {
  const array = arrays.find(({ name }) => name === scale.array)!;
  if (array.type !== 'U8' || array.shape.length <= 3) return undefined;
  const indices = new Uint32Array(array.shape.reduce((a, b) => a * b, 1)).fill(PADDING);
  let index = 0;
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      for (let byte = 0; byte < scaleBytes; byte++) indices[scale.offset(row, block, byte)] = index++;
    }
  }
  return { indices, shape: [rows, blocks, scaleBytes] };
}

/**
 * Everything a folder holds.
 * @throws Fp4Error E_USAGE for a form that the subject does not have, E_NONFINITE for an input that the policy refuses
 */
export function folderContent(job: FolderJob, inputs: FolderInputs): FolderContent {
  checkForm(job);
  const pto = job.names === 'pto' && job.function.name.startsWith('hif4_quantize');
  const gathered = new Gathered(job, inputs, job.stages || pto);
  const made = gathered.ordered();
  const { flags } = gathered;
  const { rows } = inputs.grid;
  if (pto) return { arrays: [...inputArrays(job, inputs), ...ptoArrays(job, inputs.grid, made)], flags };
  const arrays = made.map(({ field, role, words }) => fieldArray(field, role, rows, words));
  if (job.format === undefined) return { arrays: [...inputArrays(job, inputs), ...arrays], flags };
  const stages = arrays.filter(({ role }) => role === 'stage');
  const tensor = tensorArrays(job, inputs);
  const before = stages.findIndex(({ name }) => name === 'scaled');
  // FOL-04. The scales come before the elements are scaled, the codes last.
  const cut = before < 0 ? stages.length : before;
  return {
    arrays: [
      ...inputArrays(job, inputs),
      ...stages.slice(0, cut),
      tensor[0]!,
      ...stages.slice(cut),
      ...tensor.slice(1),
    ],
    flags,
  };
}
