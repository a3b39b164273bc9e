/**
 * What a file of a quantized tensor says about itself, written and checked. Clauses: spec/tensors.md TEN-07, TEN-08, TEN-19.
 * @module
 */
import { excerpt, Fp4Error } from '../error.ts';
import { JsonError, scanJson, sizes } from '../files/json-scan.ts';
import { buildSafetensorsHeader, type SafetensorsHeader } from '../files/safetensors.ts';
import { shapeSize } from '../files/shape.ts';
import { placement } from '../layout/convert.ts';
import type { Layout, Placement } from '../layout/layout.ts';
import { blockFormat, extentOf } from '../layout/linear.ts';
import { layoutByName } from '../layout/registry.ts';
import { VERSION } from '../version.ts';
import { type Codec, type Decoder, decoder, FORMATS } from './codec.ts';
import { type Geometry, geometry } from './geometry.ts';

/** How codes and scales are laid out: a layout, and the axis along which two codes share a byte where it is not that of the blocks. */
export interface StoredForm {
  readonly layout: Layout;
  readonly packAxis?: number;
}

/**
 * TEN-07, TEN-19. The form of a name, for a format.
 * @throws Fp4Error E_USAGE for a layout that does not exist or does not take the format
 */
export const storedForm = (format: string, layout = 'linear', packAxis?: number): StoredForm => ({
  layout: layoutByName(layout, format),
  ...(packAxis !== undefined && { packAxis }),
});

export const isLinear = ({ layout, packAxis }: StoredForm): boolean =>
  layout.name === 'linear' && packAxis === undefined;

/** TEN-07, TEN-19. The arrays of a quantized tensor, and where in them everything stands. */
export const placed = ({ format }: Decoder, g: Geometry, { layout, packAxis }: StoredForm): Placement => {
  const block = blockFormat(format);
  return placement(layout, block, extentOf(block, g.shape, g.axis), packAxis);
};

/** TEN-07, TEN-19. The header of a quantized tensor; offsets are those of its arrays, by name, in bytes from the file's start. */
export function buildQuantizedHeader(
  c: Codec,
  g: Geometry,
  form: StoredForm,
): { header: Uint8Array; offsets: Readonly<Record<string, number>> } {
  const { arrays } = placed(c, g, form);
  const { header, offsets } = buildSafetensorsHeader(arrays, {
    'fp4.format': c.format,
    'fp4.profile': c.profile,
    'fp4.parameters': JSON.stringify(c.parameters),
    'fp4.shape': JSON.stringify(g.shape),
    'fp4.axis': String(g.axis),
    ...(form.layout.name !== 'linear' && { 'fp4.layout': form.layout.name }),
    ...(form.packAxis !== undefined && { 'fp4.pack-axis': String(form.packAxis) }),
    'fp4.version': VERSION,
  });
  return { header, offsets: Object.fromEntries(arrays.map(({ name }, j) => [name, offsets[j]!])) };
}

/** A quantized tensor as its file describes it; `geometry` is that of the original tensor in C order. */
export interface QuantizedFile {
  readonly decoder: Decoder;
  readonly geometry: Geometry;
  readonly form: StoredForm;
  /** Of each array, in bytes from the start of the file. */
  readonly offsets: Readonly<Record<string, number>>;
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
    throw refuse(`fp4.format is "${excerpt(format)}"; known: ${FORMATS.join(', ')}`);
  }
  const d = decoder(format);
  const shape = parseShape(text('fp4.shape'));
  if (shape === undefined) throw refuse(`fp4.shape is ${excerpt(text('fp4.shape'))}, not an array of sizes`);
  shapeSize(shape, 4, 'E_TENSOR', `${file}: fp4.shape`);
  const axis = text('fp4.axis');
  if (!/^(0|[1-9][0-9]?)$/.test(axis) || Number(axis) >= shape.length) {
    throw refuse(
      `fp4.axis is "${excerpt(axis)}"; shape [${shape.join(', ')}] has axes from 0 to ${shape.length - 1}`,
    );
  }
  const g = geometry(shape, Number(axis), 'C');
  const form = parseForm(header.metadata, format, g, refuse);
  const offsets: Record<string, number> = {};
  for (const { name, type, shape: expected } of placed(d, g, form).arrays) {
    const found = header.tensors.get(name);
    if (found === undefined) throw refuse(`no tensor "${name}"`);
    if (found.dtype !== type || found.shape.join() !== expected.join()) {
      const described = `${found.dtype} [${found.shape.join(', ')}]`;
      throw refuse(`"${name}" is ${described}; fp4.shape asks for ${type} [${expected.join(', ')}]`);
    }
    offsets[name] = found.offset;
  }
  return { decoder: d, geometry: g, form, offsets, metadata: header.metadata };
}

/** TEN-19. The layout that the metadata names; none means linear. */
function parseForm(
  metadata: ReadonlyMap<string, string>,
  format: string,
  { shape }: Geometry,
  refuse: (message: string) => Fp4Error,
): StoredForm {
  const packAxis = metadata.get('fp4.pack-axis');
  if (packAxis !== undefined && !(/^(0|[1-9][0-9]?)$/.test(packAxis) && Number(packAxis) < shape.length)) {
    throw refuse(`fp4.pack-axis is "${excerpt(packAxis)}"; shape has axes from 0 to ${shape.length - 1}`);
  }
  try {
    const form = storedForm(
      format,
      metadata.get('fp4.layout'),
      packAxis === undefined ? undefined : Number(packAxis),
    );
    if (packAxis !== undefined && !form.layout.ownCodes)
      throw refuse(`layout ${form.layout.name} takes no pack axis`);
    return form;
  } catch (error) {
    throw error instanceof Fp4Error ? refuse(error.message) : error;
  }
}

function parseShape(text: string): number[] | undefined {
  try {
    return sizes(scanJson(text));
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
