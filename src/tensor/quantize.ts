/**
 * Quantizing a tensor: its elements rounded once, arranged in rows along the axis, padded to whole blocks, encoded.
 * A piece at a time, so that a file needs no more memory than one piece. Clauses: spec/tensors.md TEN-04 to TEN-07.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { valuesOf } from '../fast/f32.ts';
import { roundedWords } from '../fast/input-words.ts';
import { NONFINITE } from '../format/nonfinite.ts';
import { type Codec, codec, type PackedBlocks, scaleAt } from './codec.ts';
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

/** TEN-04. The words of a piece's values, in memory order; under nonfinite=error the first NaN or infinity is refused. */
function inputWords(values: Float64Array, g: Geometry, tile: Tile, c: Codec, where: string): Uint32Array {
  const words = new Uint32Array(values.length);
  roundedWords(values, c.input, words);
  const refusesNaN = NONFINITE[c.nonfinite].nan === 'error';
  const refusesInfinity = NONFINITE[c.nonfinite].infinity === 'error';
  if (!refusesNaN && !refusesInfinity) return words;
  const refused = words.findIndex((word) => {
    const magnitude = word & 0x7fffffff;
    return magnitude === INFINITE ? refusesInfinity : magnitude > INFINITE && refusesNaN;
  });
  if (refused >= 0) throw nonfinite(values[refused]!, refused, g, tile, c, where);
  return words;
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

/**
 * Encodes one piece and adds it to the report.
 * @param values the piece's exact values in memory order
 * @returns its blocks, row by row, each row padded with zeros to whole blocks
 */
export function quantizeTile(
  values: Float64Array,
  g: Geometry,
  tile: Tile,
  c: Codec,
  report: ReportBuilder,
  where: string,
): PackedBlocks {
  const depth = tileDepth(tile);
  const padded = blocksOf(depth, c.blockSize) * c.blockSize;
  const width = tile.fast[1] - tile.fast[0];
  const words = inputWords(values, g, tile, c, where);
  const rows = new Uint32Array(tileRows(tile) * padded);
  forEachRow(g, tile, (index, first) => {
    for (let j = 0; j < depth; j++) rows[index * padded + j] = words[first + j * width]!;
  });
  const packed = c.encode(rows);
  const decoded = valuesOf(c.decode(packed));
  forEachRow(g, tile, (index, first) => {
    for (let j = 0; j < depth; j++) report.element(values[first + j * width]!, decoded[index * padded + j]!);
  });
  const input = valuesOf(rows);
  for (let b = 0; b < rows.length / c.blockSize; b++) {
    const block = input.subarray(b * c.blockSize, (b + 1) * c.blockSize);
    report.block(c.saturated(block, scaleAt(c, packed.scales, b)));
  }
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
