/**
 * What a case folder is asked to hold: a function or a tensor, under which policy, how many cases, in which form.
 * Clauses: spec/folders.md FOL-01, FOL-02, FOL-05.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import type { Field } from '../functions/field.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { FUNCTIONS, functionByName, policyOf } from '../functions/registry.ts';
import { blockFormat } from '../layout/linear.ts';
import { layoutByName } from '../layout/registry.ts';
import type { Family } from '../random/families.ts';

export const ENCODINGS = ['raw', 'npy', 'text', 'readmemh', 'c'] as const;
export type FolderEncoding = (typeof ENCODINGS)[number];
export const NAMINGS = ['plain', 'pto'] as const;
export type Naming = (typeof NAMINGS)[number];

/** The name under which a whole tensor is exported. */
export const QUANTIZE = 'quantize';

/** Where the inputs come from. */
export interface FolderGenerator {
  readonly family: Family;
  readonly seed: bigint;
  readonly range?: readonly [number, number];
  /** FOL-06. The level of the boundary cases that come first; without, none do. */
  readonly boundary?: 1 | 2;
}

export interface FolderJob {
  /** The function; for a tensor the encoder of one block of it. */
  readonly function: OracleFunction;
  /** The format of a tensor; without, the job is about the function itself. */
  readonly format?: string;
  readonly profile?: string;
  readonly policy: AnyPolicy;
  /** Rows and elements of a row. */
  readonly shape?: readonly [rows: number, k: number];
  /** Cases, where there is no shape; the default is all boundary cases and some of the family. */
  readonly cases?: number;
  /** Undefined where the inputs are somebody's own. */
  readonly generator?: FolderGenerator;
  readonly layout: string;
  readonly encoding: FolderEncoding;
  readonly names: Naming;
  readonly stages: boolean;
}

/** What a job is made from, as texts. */
export interface JobRequest {
  readonly subject: string;
  readonly format?: string;
  readonly dtype?: string;
  readonly profile?: string;
  readonly overrides?: AnyPolicy;
}

/** The encoder of a block of a tensor, by the type of its elements. */
function blockEncoder(format: string, dtype: string | undefined): OracleFunction {
  blockFormat(format);
  const narrow = functionByName(`${format}_quantize`);
  if (dtype === 'bf16') return narrow;
  const wide = functionByName(`${format}_quantize_f32`);
  if (dtype === 'f32') return wide;
  if (dtype !== undefined) {
    throw new Fp4Error('E_DTYPE', `a tensor of type "${dtype}"; ${knownNames(dtype, ['bf16', 'f32'])}`);
  }
  return narrow;
}

/**
 * The function and policy of a request.
 * @throws Fp4Error E_USAGE, E_PROFILE, E_PARAMETER, E_DTYPE for names that do not exist
 */
export function subjectOf(
  request: JobRequest,
): Pick<FolderJob, 'function' | 'format' | 'profile' | 'policy'> {
  const { subject, format, dtype, profile, overrides } = request;
  if (subject !== QUANTIZE) {
    const known = FUNCTIONS.map((f) => f.name);
    if (!known.includes(subject)) {
      const hint = knownNames(subject, [QUANTIZE, ...known]);
      throw new Fp4Error('E_USAGE', `nothing to export under the name "${subject}"; ${hint}`);
    }
    if (format !== undefined)
      throw new Fp4Error('E_USAGE', `${subject} has its format; --format is for ${QUANTIZE}`);
    if (dtype !== undefined)
      throw new Fp4Error('E_USAGE', `${subject} has its type; --dtype is for ${QUANTIZE}`);
  } else if (format === undefined) throw new Fp4Error('E_USAGE', `${QUANTIZE} needs --format`);
  let f = format === undefined ? functionByName(subject) : blockEncoder(format, dtype);
  const policy = policyOf(f, profile, overrides);
  if (format !== undefined && dtype === undefined && policy['input'] === 'f32')
    f = blockEncoder(format, 'f32');
  const named = profile ?? f.profiles[0]?.name;
  return {
    function: f,
    policy,
    ...(format !== undefined && { format }),
    ...(named !== undefined && { profile: named }),
  };
}

/** Elements of one case: those of the longest operand. */
export const caseElements = (f: OracleFunction): number => Math.max(...f.inputs.map((field) => field.count));

/** How the cases of a job lie: rows of blocks, and what a row has beyond its whole blocks. */
export interface Grid {
  readonly rows: number;
  /** Blocks of a row, the last one padded where there is a tail. */
  readonly blocks: number;
  /** Blocks of a row without the tail. */
  readonly whole: number;
  /** Elements of a row beyond its whole blocks; only a tensor has them. */
  readonly tail: number;
}

export const cellCount = ({ rows, blocks }: Grid): number => rows * blocks;

/** Elements of a row of an operand, not padded. */
export const rowLength = (field: Field, grid: Grid): number => grid.whole * field.count + grid.tail;

/** So that a folder fits into memory, and a text file into a string. */
const MOST_ELEMENTS = { binary: 2 ** 26, text: 2 ** 22 };

/** A folder has at least as many cases, and that many of the family after the boundary cases. */
const FEWEST_CASES = 256;
const FAMILY_CASES = 64;

/**
 * FOL-05. The grid of a job.
 * @param boundaryCases how many there are; they set the default number of cases
 * @throws Fp4Error E_SHAPE, E_USAGE
 */
export function gridOf(job: FolderJob, boundaryCases: number): Grid {
  const elements = caseElements(job.function);
  const grid = job.shape
    ? shapedGrid(job, job.shape, elements)
    : {
        rows: job.cases ?? Math.max(FEWEST_CASES, boundaryCases + (boundaryCases > 0 ? FAMILY_CASES : 0)),
        ...{ blocks: 1, whole: 1, tail: 0 },
      };
  if (job.format !== undefined && job.shape === undefined) {
    throw new Fp4Error('E_USAGE', `${QUANTIZE} needs --shape MxK`);
  }
  const limit = ['raw', 'npy'].includes(job.encoding) ? MOST_ELEMENTS.binary : MOST_ELEMENTS.text;
  const found = grid.rows * grid.blocks * elements;
  if (cellCount(grid) < 1) {
    throw new Fp4Error('E_SHAPE', `${grid.rows} rows of ${grid.blocks} blocks: there is nothing to export`);
  }
  if (found > limit) {
    const range = `from 1 to ${limit} with encoding ${job.encoding}`;
    throw new Fp4Error(
      'E_SHAPE',
      `${grid.rows} rows of ${grid.blocks} blocks have ${found} elements; expected ${range}`,
    );
  }
  return grid;
}

function shapedGrid(job: FolderJob, [rows, k]: readonly [number, number], elements: number): Grid {
  const whole = Math.floor(k / elements);
  const tail = k % elements;
  if (tail > 0 && job.format === undefined) {
    const unit = `whole blocks of ${elements} elements`;
    throw new Fp4Error(
      'E_SHAPE',
      `shape ${rows}x${k}: ${job.function.name} takes ${unit}; ${QUANTIZE} pads a tail`,
    );
  }
  if (tail > 0 && (job.encoding === 'text' || job.encoding === 'readmemh')) {
    const why = `encoding ${job.encoding} has a block a line and takes whole blocks of ${elements} elements`;
    throw new Fp4Error('E_SHAPE', `shape ${rows}x${k}: ${why}`);
  }
  return { rows, blocks: Math.ceil(k / elements), whole, tail };
}

/** @throws Fp4Error E_USAGE for a form that the subject does not have */
export function checkForm(job: FolderJob): void {
  if (job.format === undefined && job.layout !== 'linear') {
    throw new Fp4Error(
      'E_USAGE',
      `layout ${job.layout}: layouts are for ${QUANTIZE}; a function has its cases one after the other`,
    );
  }
  if (job.format !== undefined) layoutByName(job.layout, job.format);
  if (job.layout === 'high-first' && job.encoding === 'readmemh') {
    throw new Fp4Error(
      'E_USAGE',
      'layout high-first orders nibbles in bytes; encoding readmemh has an order of its own',
    );
  }
  if (job.names === 'plain') return;
  if (job.encoding !== 'raw') {
    throw new Fp4Error('E_USAGE', `names pto: the files are raw; found encoding ${job.encoding}`);
  }
  if (job.layout !== 'linear') {
    throw new Fp4Error(
      'E_USAGE',
      `names pto: the layouts are those of the tests; found layout ${job.layout}`,
    );
  }
}
