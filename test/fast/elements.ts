/**
 * Grids of elements under every scale, as whole units and blocks, so that every path can take them: a largest magnitude that
 * makes the scale, and beside it all magnitudes up to it.
 */
import { type HiF4Trace, hif4Stages } from '../../src/format/hif4.ts';
import type { HiF4Policy } from '../../src/format/hif4-policy.ts';
import { type Mxfp4Trace, mxfp4Stages } from '../../src/format/mxfp4.ts';
import type { Mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { bf16Value } from '../../src/format/scalar.ts';
import type { Exact } from '../../src/number/exact.ts';

/** Every finite BF16 magnitude, 0 to 7f7f. */
export const MAGNITUDES = 0x7f80;

/** Every `step`th BF16 magnitude from `first`, moved by some FP32 steps, with one sign. */
export interface Grid {
  readonly first: number;
  readonly step: number;
  readonly offset?: number;
  readonly negative: boolean;
}

function magnitude(word: number): Exact {
  const value = bf16Value(word);
  if (value.kind !== 'finite') throw new Error('finite words only');
  return value.magnitude;
}

/** The largest BF16 magnitude that makes each scale, by the definition; undefined where none does. */
function tops(scaleOf: (word: number) => number): (number | undefined)[] {
  const found: (number | undefined)[] = Array.from({ length: 0xff }, () => undefined);
  for (let word = 0; word < MAGNITUDES; word++) {
    const scale = scaleOf(word);
    if (scale < 0xff) found[scale] = word;
  }
  return found;
}

export const hif4Tops = (policy: HiF4Policy): (number | undefined)[] =>
  tops((word) => {
    const trace = { max64: magnitude(word) } as HiF4Trace;
    trace.sf = hif4Stages.sf(trace, policy);
    return hif4Stages.e6m2(trace, policy);
  });

export const mxfp4Tops = (policy: Mxfp4Policy): (number | undefined)[] =>
  tops((word) => {
    const trace = { input: { kind: 'finite' }, amax: magnitude(word) } as Mxfp4Trace;
    trace.exponent = mxfp4Stages.exponent(trace, policy);
    return mxfp4Stages.scale(trace, policy);
  });

/** Fills the places of blocks with the words of a grid up to `top`, one after another; the last block may have zeros. */
function* filled(size: number, top: number, places: readonly number[], g: Grid): Generator<Uint32Array> {
  const sign = g.negative ? 0x80000000 : 0;
  for (let word = g.first; word <= top; word += g.step * places.length) {
    const x = new Uint32Array(size);
    for (const [j, place] of places.entries()) {
      const at = word + j * g.step;
      if (at <= top) x[place] = sign + Math.max(0, at * 0x10000 + (at < top ? (g.offset ?? 0) : 0));
    }
    yield x;
  }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, j) => j);

/**
 * Units of a scale: all elements in quads beside the largest magnitude (two exponent bits), all in quads beside such quads (one
 * bit or two), all in octets that are left to themselves (none, one or two).
 */
export function* hif4Units(top: number, g: Grid): Generator<Uint32Array> {
  const places = range(64);
  const arrangements = [
    { leads: places.filter((q) => q % 8 === 0), free: places.filter((q) => q % 8 > 0 && q % 8 < 4) },
    { leads: places.filter((q) => q % 8 === 0), free: places.filter((q) => q % 8 >= 4) },
    { leads: [0], free: places.filter((q) => q >= 8) },
  ];
  for (const { leads, free } of arrangements) {
    for (const x of filled(64, top, free, g)) {
      for (const lead of leads) x[lead] = top * 0x10000;
      yield x;
    }
  }
}

/** Blocks of a scale: the largest magnitude, and all others up to it. */
export function* mxfp4Blocks(top: number, g: Grid): Generator<Uint32Array> {
  for (const x of filled(32, top, range(31), g)) {
    x[31] = top * 0x10000;
    yield x;
  }
}
