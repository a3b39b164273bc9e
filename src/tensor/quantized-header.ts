/**
 * What a file of a quantized tensor says about itself, written and checked. Clauses: spec/tensors.md TEN-07, TEN-08.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { JsonError, scanJson, sizes } from '../files/json-scan.ts';
import {
  buildSafetensorsHeader,
  type SafetensorsEntry,
  type SafetensorsHeader,
} from '../files/safetensors.ts';
import { shapeSize } from '../files/shape.ts';
import { VERSION } from '../version.ts';
import { type Codec, type Decoder, decoder, FORMATS } from './codec.ts';
import { blocksOf, type Geometry, geometry } from './geometry.ts';

/** Where the two tensors of a quantized file start, in bytes from its start. */
export interface QuantizedOffsets {
  readonly codes: number;
  readonly scales: number;
}

/** TEN-07. Shapes of the two tensors. */
function storedShapes({ outer, k }: Geometry, blockSize: number): { codes: number[]; scales: number[] } {
  const blocks = blocksOf(k, blockSize);
  return { codes: [...outer, (blocks * blockSize) / 2], scales: [...outer, blocks] };
}

/** TEN-07. The header of a quantized tensor. */
export function buildQuantizedHeader(
  c: Codec,
  g: Geometry,
): { header: Uint8Array; offsets: QuantizedOffsets; fileBytes: number } {
  const shapes = storedShapes(g, c.blockSize);
  const { header, offsets, fileBytes } = buildSafetensorsHeader(
    [
      { name: 'codes', type: 'U8', shape: shapes.codes },
      { name: 'scales', type: c.scaleType, shape: shapes.scales },
    ],
    {
      'fp4.format': c.format,
      'fp4.profile': c.profile,
      'fp4.parameters': JSON.stringify(c.parameters),
      'fp4.shape': JSON.stringify(g.shape),
      'fp4.axis': String(g.axis),
      'fp4.version': VERSION,
    },
  );
  return { header, offsets: { codes: offsets[0]!, scales: offsets[1]! }, fileBytes };
}

/** A quantized tensor as its file describes it; `geometry` is that of the original tensor in C order. */
export interface QuantizedFile {
  readonly decoder: Decoder;
  readonly geometry: Geometry;
  readonly offsets: QuantizedOffsets;
  readonly metadata: ReadonlyMap<string, string>;
}

/** Whether a file says that it holds a quantized tensor. */
export const isQuantized = ({ metadata }: SafetensorsHeader): boolean => metadata.has('fp4.format');

/**
 * TEN-08. A quantized tensor's description, with its parts found to agree.
 * @throws Fp4Error E_TENSOR
 */
export function parseQuantizedHeader(header: SafetensorsHeader, file: string): QuantizedFile {
  const refuse = (message: string): Fp4Error => new Fp4Error('E_TENSOR', `${file}: ${message}`);
  const text = (key: string): string => {
    const value = header.metadata.get(key);
    if (value === undefined) throw refuse(`not a quantized tensor: the metadata has no ${key}`);
    return value;
  };
  const format = text('fp4.format');
  if (!(FORMATS as readonly string[]).includes(format)) {
    throw refuse(`fp4.format is "${format}"; known: ${FORMATS.join(', ')}`);
  }
  const d = decoder(format);
  const shape = parseShape(text('fp4.shape'));
  if (shape === undefined) throw refuse(`fp4.shape is ${text('fp4.shape')}, not an array of sizes`);
  shapeSize(shape, 4, 'E_TENSOR', `${file}: fp4.shape`);
  const axis = text('fp4.axis');
  if (!/^(0|[1-9][0-9]?)$/.test(axis) || Number(axis) >= shape.length) {
    throw refuse(`fp4.axis is "${axis}"; shape [${shape.join(', ')}] has axes from 0 to ${shape.length - 1}`);
  }
  const g = geometry(shape, Number(axis), 'C');
  const shapes = storedShapes(g, d.blockSize);
  const entry = (name: string, dtype: string, expected: readonly number[]): SafetensorsEntry => {
    const found = header.tensors.get(name);
    if (found === undefined) throw refuse(`no tensor "${name}"`);
    if (found.dtype !== dtype || found.shape.join() !== expected.join()) {
      const described = `${found.dtype} [${found.shape.join(', ')}]`;
      throw refuse(`"${name}" is ${described}; fp4.shape asks for ${dtype} [${expected.join(', ')}]`);
    }
    return found;
  };
  const codes = entry('codes', 'U8', shapes.codes).offset;
  const scales = entry('scales', d.scaleType, shapes.scales).offset;
  return { decoder: d, geometry: g, offsets: { codes, scales }, metadata: header.metadata };
}

function parseShape(text: string): number[] | undefined {
  try {
    return sizes(scanJson(text));
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
