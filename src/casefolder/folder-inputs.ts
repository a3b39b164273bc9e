/**
 * The inputs of a case folder: boundary blocks in whole first rows, a family everywhere else.
 * Clauses: spec/folders.md FOL-05, FOL-06.
 * @module
 */
import { Fp4Error } from '../error.ts';
import type { BoundaryCase, OracleFunction } from '../functions/oracle-function.ts';
import { drawType } from '../functions/session.ts';
import { type Family, fillFamily } from '../random/families.ts';
import {
  caseElements,
  type FolderGenerator,
  type FolderJob,
  type Grid,
  gridOf,
  rowLength,
} from './folder-job.ts';

export interface FolderInputs {
  readonly grid: Grid;
  /** The elements of each operand, row by row, rows not padded. */
  readonly operands: readonly Uint32Array[];
  /** Rows that hold boundary blocks, from the first. */
  readonly boundaryRows: number;
  /** Why each boundary block is there; block b of row r is number (r x whole blocks of a row + b) mod their count. */
  readonly notes: readonly string[];
}

/** FOL-05. The family where none is asked for: bits where no input is drawn as a float. */
export const defaultFamily = (f: OracleFunction): Family =>
  f.inputs.every((field) => typeof drawType(field) === 'object') ? 'bits' : 'ladder';

/** FOL-06. The boundary cases of a level, without those that the policy refuses. */
function boundaryCases(job: FolderJob): BoundaryCase[] {
  const level = job.generator?.boundary;
  if (level === undefined) return [];
  return [...job.function.boundary(level)].filter(({ inputs }) => {
    try {
      job.function.fast(inputs, job.policy);
      return true;
    } catch (error) {
      if (error instanceof Fp4Error && error.code === 'E_NONFINITE') return false;
      throw error;
    }
  });
}

/** RND-02. Every element of an operand by its index in row-major order. */
function drawOperands(job: FolderJob, generator: FolderGenerator, grid: Grid): Uint32Array[] {
  return job.function.inputs.map((field, operand) => {
    const length = rowLength(field, grid);
    const words = new Uint32Array(grid.rows * length);
    const draw = {
      family: generator.family,
      seed: generator.seed,
      operand,
      type: drawType(field),
      channels: length,
      ...(generator.range && { range: generator.range }),
    };
    fillFamily(draw, 0, words);
    return words;
  });
}

/** FOL-06. How many rows the boundary blocks take: whole ones, the last filled up from the first block on. */
const boundaryRowCount = (cases: number, { rows, whole }: Grid): number =>
  whole === 0 ? 0 : Math.min(rows, Math.ceil(cases / whole));

/**
 * The inputs that the generator of a job makes.
 * @throws Fp4Error E_SHAPE, E_USAGE
 */
export function drawInputs(job: FolderJob & { readonly generator: FolderGenerator }): FolderInputs {
  const cases = boundaryCases(job);
  const grid = gridOf(job, cases.length);
  const operands = drawOperands(job, job.generator, grid);
  const rows = boundaryRowCount(cases.length, grid);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < grid.whole; block++) {
      const { inputs } = cases[(row * grid.whole + block) % cases.length]!;
      for (const [k, field] of job.function.inputs.entries()) {
        operands[k]!.set(inputs[k]!, row * rowLength(field, grid) + block * field.count);
      }
    }
  }
  const used = Math.min(cases.length, rows * grid.whole);
  return { grid, operands, boundaryRows: rows, notes: cases.slice(0, used).map(({ note }) => note) };
}

/** The block at a place of a tensor or of a stream of cases, a tail padded with zeros. */
export function blockInputs(
  job: FolderJob,
  { grid, operands }: FolderInputs,
  row: number,
  block: number,
): Uint32Array[] {
  return job.function.inputs.map((field, k) => {
    const start = row * rowLength(field, grid) + block * field.count;
    const end = Math.min(start + field.count, (row + 1) * rowLength(field, grid));
    const words = new Uint32Array(field.count);
    words.set(operands[k]!.subarray(start, end));
    return words;
  });
}

/** Whether a block has padding: the last of a row with a tail. */
export const isTail = ({ whole }: Grid, block: number): boolean => block === whole;

/** Elements of a row as the inputs' shape has them; the padded length for whole blocks. */
export const paddedRow = (job: FolderJob, { blocks }: Grid): number => blocks * caseElements(job.function);
