/**
 * Quantizing a tensor: its elements rounded once, arranged in rows along the axis, padded to whole blocks, encoded.
 * A piece at a time, so that a file needs no more memory than one piece. Clauses: spec/tensors.md TEN-04 to TEN-07.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { valuesOf, wordsOf } from '../fast/f32.ts';
import { roundedWords, roundWords } from '../fast/input-words.ts';
import { NONFINITE } from '../format/nonfinite.ts';
import { type Codec, codec, type PackedBlocks } from './codec.ts';
import {
  blocksOf,
  forEachRow,
  type Geometry,
  geometry,
  multiIndex,
  normalizedAxis,
  type Tile,
  tileDepth,
  tileRows,
  tiles,
} from './geometry.ts';
import { ReportBuilder, type TensorReport } from './report.ts';

/** Elements of a piece: a few megabytes of work at a time. */
export const TILE_ELEMENTS = 2 ** 18;

/** FP32 infinity without its sign; what lies above is a NaN. */
const INFINITE = 0x7f800000;

/** What a piece is made of: FP32 numbers where these hold every value of its type, else binary64 numbers. */
export type TileValues = Float32Array | Float64Array;

/** TEN-04. The words of some values, each rounded once to what the codec takes. */
function inputWords(values: TileValues, { input }: Codec): Uint32Array {
  const words = new Uint32Array(values.length);
  if (values instanceof Float32Array) roundWords(wordsOf(values), input, words);
  else roundedWords(values, input, words);
  return words;
}

/** Under nonfinite=error the first NaN or infinity of a piece is refused. */
function refuseNonfinite(values: TileValues, g: Geometry, tile: Tile, c: Codec, where: string): void {
  const refusesNaN = NONFINITE[c.nonfinite].nan === 'error';
  const refusesInfinity = NONFINITE[c.nonfinite].infinity === 'error';
  if (!refusesNaN && !refusesInfinity) return;
  const refused = inputWords(values, c).findIndex((word) => {
    const magnitude = word & 0x7fffffff;
    return magnitude === INFINITE ? refusesInfinity : magnitude > INFINITE && refusesNaN;
  });
  if (refused >= 0) throw nonfinite(values[refused]!, refused, g, tile, c, where);
}

function nonfinite(value: number, at: number, g: Geometry, tile: Tile, c: Codec, where: string): Fp4Error {
  const width = tile.fast[1] - tile.fast[0];
  const fast = tile.fast[0] + (at % width);
  const position = tile.k[0] + (Math.floor(at / width) % tileDepth(tile));
  const slow = tile.slow[0] + Math.floor(at / (width * tileDepth(tile)));
  const index = multiIndex(g, g.rowOf(slow, fast), position).join(',');
  const what = `element [${index}] is ${value} as ${c.input}`;
  return new Fp4Error('E_NONFINITE', `${where}: ${what}, which nonfinite=${c.nonfinite} refuses`);
}

/** The values of a piece row by row, each row padded with zeros to whole blocks. */
function arranged<T extends TileValues>(values: T, g: Geometry, tile: Tile, padded: number): T {
  const depth = tileDepth(tile);
  const width = tile.fast[1] - tile.fast[0];
  if (width === 1 && depth === padded) return values; // they lie so already
  const rows = new (values.constructor as new (length: number) => T)(tileRows(tile) * padded);
  forEachRow(g, tile, (index, first) => {
    const row = index * padded;
    if (width === 1) rows.set(values.subarray(first, first + depth), row);
    else for (let j = 0; j < depth; j++) rows[row + j] = values[first + j * width]!;
  });
  return rows;
}

/** Adds every element but the padding to the report. */
function reportElements(
  rows: TileValues,
  decoded: Uint32Array,
  depth: number,
  padded: number,
  report: ReportBuilder,
) {
  if (rows instanceof Float32Array) {
    const words = wordsOf(rows);
    if (depth === padded) return report.elements(words, decoded);
    for (let row = 0; row < rows.length; row += padded) {
      report.elements(words.subarray(row, row + depth), decoded.subarray(row, row + depth));
    }
    return;
  }
  const values = valuesOf(decoded);
  for (let row = 0; row < rows.length; row += padded) {
    for (let j = row; j < row + depth; j++) report.element(rows[j]!, values[j]!);
  }
}

/**
 * Encodes one piece and adds it to the report.
 * @param values the piece's exact values in memory order
 * @returns its blocks, row by row, each row padded with zeros to whole blocks
 */
export function quantizeTile(
  values: TileValues,
  g: Geometry,
  tile: Tile,
  c: Codec,
  report: ReportBuilder,
  where: string,
): PackedBlocks {
  const depth = tileDepth(tile);
  const padded = blocksOf(depth, c.blockSize) * c.blockSize;
  refuseNonfinite(values, g, tile, c, where);
  const rows = arranged(values, g, tile, padded);
  const words = inputWords(rows, c);
  const packed = c.encode(words);
  reportElements(rows, c.decode(packed), depth, padded, report);
  report.blocks(words.length / c.blockSize, c.saturated(words, packed.scales));
  return packed;
}

/** A tensor in memory, quantized (TEN-07). */
export interface QuantizedTensor extends PackedBlocks {
  readonly format: string;
  readonly profile: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** The original shape. */
  readonly shape: readonly number[];
  /** Not negative. */
  readonly axis: number;
}

/**
 * Quantizes a tensor in memory.
 * @param values in C order, as many as the shape has elements
 * @throws Fp4Error E_SHAPE, E_LENGTH, E_USAGE, E_PROFILE, E_PARAMETER, E_NONFINITE
 */
export function quantizeTensor(
  values: Float64Array,
  shape: readonly number[],
  axis: number,
  format: string,
  profile?: string,
  overrides?: Readonly<Record<string, string>>,
): { tensor: QuantizedTensor; report: TensorReport } {
  const c = codec(format, profile, overrides);
  const g = geometry(shape, normalizedAxis(shape, axis, 'tensor'), 'C');
  const elements = shape.reduce((a, b) => a * b, 1);
  if (values.length !== elements) {
    const found = `${values.length} values`;
    throw new Fp4Error('E_LENGTH', `shape [${shape.join(', ')}] has ${elements} elements, found ${found}`);
  }
  const report = new ReportBuilder();
  let packed: PackedBlocks = { codes: new Uint8Array(0), scales: new Uint8Array(0) };
  for (const whole of tiles(g, c.blockSize, Number.MAX_SAFE_INTEGER)) {
    packed = quantizeTile(values, g, whole, c, report, 'tensor'); // the first piece is all there is
  }
  const { profile: name, parameters } = c;
  const tensor = { format: c.format, profile: name, parameters, shape, axis: g.axis, ...packed };
  return { tensor, report: report.report() };
}
