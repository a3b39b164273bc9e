/**
 * Two tensor files compared bit for bit: which tensors there are, their types and shapes, then every element. Clauses: spec/tensors.md TEN-17.
 * @module
 */
import type { StoredTensor } from '../files/element-type.ts';
import { storedTensor } from '../files/safetensors.ts';
import { isQuantized } from '../tensor/quantized-header.ts';
import { differingElements, type ElementDifference } from './diff-elements.ts';
import type { InputFile } from './input-file.ts';
import { type OnProgress, Pace } from './pace.ts';
import {
  readNpyHeader,
  readSafetensorsHeader,
  type TensorName,
  tensorName,
  withInput,
} from './tensor-file.ts';

export interface FileDifferences {
  /** Tensors compared element by element. */
  readonly tensors: number;
  /** Elements that differ. */
  readonly count: number;
  /** The first of them. */
  readonly first: readonly (ElementDifference & { readonly tensor: string })[];
  /** What makes the files differ as a whole: a tensor on one side only, another type or shape, another meaning. */
  readonly structure: readonly string[];
  /** Metadata that differs and does not count. */
  readonly notes: readonly string[];
}

/** Differences that are spelled out; the rest is counted. */
export const SHOWN = 20;
/** The name of an array that its file gives none. */
const UNNAMED = 'array';
/** TEN-17. Metadata that says what the bits mean. */
const MEANING = ['fp4.format', 'fp4.shape', 'fp4.axis', 'fp4.layout', 'fp4.pack-axis'];

interface Contents {
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly metadata: ReadonlyMap<string, string>;
}

/** The tensors an argument names: one, or all of a .safetensors file. */
function contents(file: InputFile, { kind, tensor }: TensorName): Contents {
  if (kind === 'npy') return { tensors: new Map([[UNNAMED, readNpyHeader(file)]]), metadata: new Map() };
  const header = readSafetensorsHeader(file);
  const names = tensor === undefined ? [...header.tensors.keys()] : [tensor];
  const tensors = names.map((name): [string, StoredTensor] => [name, storedTensor(header, name, file.path)]);
  return { tensors: new Map(tensors), metadata: tensor === undefined ? header.metadata : new Map() };
}

/** A single tensor is compared with a single one whatever their names, as `X.npy` and `FILE.safetensors:NAME` have none in common. */
function pairs(
  a: Contents,
  b: Contents,
  namedOne: boolean,
): { name: string; a?: StoredTensor; b?: StoredTensor }[] {
  if (namedOne && a.tensors.size === 1 && b.tensors.size === 1) {
    const [[nameA, tensorA]] = [...a.tensors] as [[string, StoredTensor]];
    const [[nameB, tensorB]] = [...b.tensors] as [[string, StoredTensor]];
    return [{ name: nameA === UNNAMED ? nameB : nameA, a: tensorA, b: tensorB }];
  }
  const names = new Set([...a.tensors.keys(), ...b.tensors.keys()]);
  return [...names].map((name) => {
    const [left, right] = [a.tensors.get(name), b.tensors.get(name)];
    return { name, ...(left && { a: left }), ...(right && { b: right }) };
  });
}

const elements = ({ shape }: StoredTensor): number => shape.reduce((a, b) => a * b, 1);

const describe = ({ type, shape }: StoredTensor): string => `${type} [${shape.join(', ')}]`;

const isSingle = ({ kind, tensor }: TensorName): boolean => kind === 'npy' || tensor !== undefined;

/** TEN-21. Whether both arguments are whole files of quantized tensors, which are compared block by block. */
export async function bothQuantized(argumentA: string, argumentB: string): Promise<boolean> {
  for (const argument of [argumentA, argumentB]) {
    const { path, kind, tensor } = tensorName(argument);
    if (kind === 'npy' || tensor !== undefined) return false;
    if (!(await withInput(path, (file) => isQuantized(readSafetensorsHeader(file))))) return false;
  }
  return true;
}

/** TEN-17. Metadata on which two files differ: what changes the meaning of the bits, and what does not. */
export const metadataDifferences = (argumentA: string, argumentB: string) => {
  const metadata = (argument: string) =>
    withInput(tensorName(argument).path, (file) => readSafetensorsHeader(file).metadata);
  return Promise.all([metadata(argumentA), metadata(argumentB)]).then(([a, b]) => compareMetadata(a, b));
};

/**
 * TEN-17. Compares the files that two arguments name.
 * @throws Fp4Error for a file that cannot be read as what its name says
 */
export function diffFiles(
  argumentA: string,
  argumentB: string,
  onProgress?: OnProgress,
): Promise<FileDifferences> {
  const [nameA, nameB] = [tensorName(argumentA), tensorName(argumentB)];
  return withInput(nameA.path, (fileA) =>
    withInput(nameB.path, async (fileB) => {
      const [a, b] = [contents(fileA, nameA), contents(fileB, nameB)];
      const { structure, notes } = compareMetadata(a.metadata, b.metadata);
      const comparable: { name: string; a: StoredTensor; b: StoredTensor }[] = [];
      for (const pair of pairs(a, b, isSingle(nameA) && isSingle(nameB))) {
        const { name, a: left, b: right } = pair;
        if (left === undefined) structure.push(`${name}: only in ${nameB.path}`);
        else if (right === undefined) structure.push(`${name}: only in ${nameA.path}`);
        else if (describe(left) === describe(right)) comparable.push({ name, a: left, b: right });
        else structure.push(`${name}: ${describe(left)} against ${describe(right)}`);
      }
      let count = 0;
      const first: FileDifferences['first'][number][] = [];
      const pace = new Pace(
        comparable.reduce((sum, pair) => sum + elements(pair.a), 0),
        onProgress,
      );
      for (const { name, a: left, b: right } of comparable) {
        const sides = [
          { file: fileA, tensor: left },
          { file: fileB, tensor: right },
        ] as const;
        for await (const difference of differingElements(...sides, pace)) {
          if (count++ < SHOWN) first.push({ tensor: name, ...difference });
        }
      }
      return { tensors: comparable.length, count, first, structure, notes };
    }),
  );
}

function compareMetadata(
  a: ReadonlyMap<string, string>,
  b: ReadonlyMap<string, string>,
): { structure: string[]; notes: string[] } {
  const structure: string[] = [];
  const notes: string[] = [];
  for (const key of new Set([...a.keys(), ...b.keys()])) {
    const [left, right] = [a.get(key), b.get(key)];
    if (left === right) continue;
    const line = `metadata ${key}: ${left ?? '(absent)'} against ${right ?? '(absent)'}`;
    (MEANING.includes(key) ? structure : notes).push(line);
  }
  return { structure, notes };
}
