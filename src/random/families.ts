/**
 * Input families that anyone can replay: element i of a family depends on the seed and on i alone.
 * Integers only; each value is exact and rounded once, half-even. Clauses: spec/random.md RND-02 to RND-10.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { twoTo } from '../number/number-bits.ts';
import { chunkFrom, drawElements } from './draw.ts';
import { philox } from './philox.ts';

/** RND-03. The families by name; the number is part of the counter. */
export const FAMILIES = {
  bits: 0,
  'bits-any': 1,
  gauss: 2,
  ladder: 3,
  ties: 4,
  'outlier-element': 5,
  'outlier-channel': 6,
  'zeros-mixed': 7,
} as const;
export type Family = keyof typeof FAMILIES;

/** What the values are rounded to: BF16, FP32, or nothing where the input is no float and takes low bits. */
export type DrawType = 'bf16' | 'f32' | { readonly bits: number };

export interface Draw {
  readonly family: Family;
  /** 64 bits, the key of the generator. */
  readonly seed: bigint;
  /** The position of the operand among the inputs, from 0. */
  readonly operand: number;
  readonly type: DrawType;
  /** Length of the quantized axis, the last one: element i lies in channel i mod `channels`. */
  readonly channels: number;
  /** Ends of the exponent E of ladder, both included. */
  readonly range?: readonly [number, number];
}

/** @throws Fp4Error E_USAGE for a name that is no family */
export function familyByName(name: string): Family {
  if (Object.hasOwn(FAMILIES, name)) return name as Family;
  throw new Fp4Error('E_USAGE', `unknown family "${name}"; ${knownNames(name, Object.keys(FAMILIES))}`);
}

/** RND-02. Elements that share the word g. */
const GROUP = 64;
/** RND-06. */
const LADDER_RANGE: readonly [number, number] = [-20, 20];

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** RND-02. The binary32 word of n x 2^k rounded once to the type; n has at most 25 bits. */
function rounded(n: number, k: number, type: 'bf16' | 'f32'): number {
  if (type === 'f32') {
    single[0] = n * 2 ** k;
    return singleBits[0]!;
  }
  // The integer is first cut to the 8 significant bits, or fewer, that BF16 has at this exponent.
  const magnitude = Math.abs(n);
  if (magnitude === 0) return 0;
  const length = 32 - Math.clz32(magnitude);
  const exponent = length - 1 + k;
  if (exponent >= -126 && exponent <= 127) {
    // What is cut off is rounded; a carry out of the significand goes on into the exponent, up to infinity.
    const cut = Math.max(length - 8, 0);
    const lower = magnitude >>> cut;
    const rest = magnitude - (lower << cut);
    const half = cut > 0 ? 1 << (cut - 1) : 1;
    const up = rest > half || (rest === half && (lower & 1) === 1) ? 1 : 0;
    const significand = (lower << Math.max(8 - length, 0)) + up;
    return (n < 0 ? 0x8000 : 0) | (((exponent + 127) << 7) + significand - 0x80);
  }
  const quantum = Math.max(exponent, -126) - 7;
  const units = magnitude * 2 ** (k - quantum);
  const floor = Math.floor(units);
  const rest = units - floor;
  const even = rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
  single[0] = Math.sign(n) * even * 2 ** quantum;
  return singleBits[0]! >>> 16;
}

/** RND-04. Plain bits; under `bits` an exponent of all ones loses its lowest bit, so that every value is finite. */
function plainBits(d: Draw, a0: number): number {
  if (typeof d.type === 'object') return d.type.bits === 32 ? a0 : a0 & ((1 << d.type.bits) - 1);
  const word = d.type === 'bf16' ? a0 & 0xffff : a0;
  const [exponent, lowest] = d.type === 'bf16' ? [0x7f80, 0x0080] : [0x7f800000, 0x00800000];
  return d.family === 'bits' && (word & exponent) === exponent ? (word & ~lowest) >>> 0 : word;
}

/** RND-02. The exponent k of the elements n x 2^k of a group or channel whose word is g. */
function exponentFor(family: Family, g: number, [low, high]: readonly [number, number]): number {
  if (family === 'ladder') return low + (g % (high - low + 1)) - 16; // RND-06
  return family === 'ties' ? (g % 17) - 8 - 3 : -16; // RND-07
}

/**
 * The integer n of an element from what was drawn for it; -0 is the zero that has a sign.
 * @param gauss RND-05. The sum of twelve 16-bit halves about its mean, in units of 2^-16
 */
function integerOf(family: Family, i: number, gauss: number, a0: number, b2: number, g: number): number {
  switch (family) {
    case 'ties': {
      // RND-07. 7 x 2^E is 56 x 2^(E - 3); a zero has no sign, since it is an integer that is negated.
      const m = i % 32 === 0 ? 56 : a0 % 57;
      return b2 & 1 ? 0 - m : m;
    }
    case 'outlier-element': // RND-08
      return b2 % 100 === 0 ? 50 * gauss : gauss;
    case 'outlier-channel': // RND-09
      return g % 100 === 0 ? 30 * gauss : gauss;
    case 'zeros-mixed': // RND-10
      return b2 % 4 === 0 ? 0 : b2 % 4 === 1 ? -0 : gauss;
    default:
      return gauss;
  }
}

/** Integers below it, times a power of two from 2^LEAST to 2^MOST, are normal FP32 numbers, exactly. */
const SMALL = 2 ** 24;
const LEAST = -126;
const MOST = 103;

/** RND-02. The word of n x power, exact in FP32, rounded once to the type. */
function roundedSmall(n: number, power: number, type: 'bf16' | 'f32'): number {
  single[0] = n * power;
  const word = singleBits[0]!;
  return type === 'f32' ? word : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
}

/** RND-05. Twelve times the mean of a 16-bit half. */
const MEAN = 393210;
const g = new Uint32Array(4);

/**
 * Elements first, first + 1, ... of a family.
 * @param out receives them: BF16 or FP32 words, or codes
 */
export function fillFamily(d: Draw, first: number, out: Uint32Array): void {
  const { family } = d;
  const type = d.type === 'bf16' ? 'bf16' : 'f32';
  const plain = family === 'bits' || family === 'bits-any' || typeof d.type === 'object';
  // RND-02. Key and counter: the seed; index, family, use with operand.
  const key0 = Number(BigInt.asUintN(32, d.seed));
  const key1 = Number(BigInt.asUintN(32, d.seed >> 32n));
  const number = FAMILIES[family];
  const use = 16 * d.operand;
  const range = d.range ?? LADDER_RANGE;
  let drawn = -1;
  let k = 0;
  let power = 0;
  for (let done = 0; done < out.length; ) {
    const start = first + done;
    const count = chunkFrom(start, out.length - done);
    const { sums, a0, b2 } = drawElements(key0, key1, start, number, use, count);
    for (let j = 0; j < count; j++) {
      if (plain) {
        out[done + j] = plainBits(d, a0[j]!);
        continue;
      }
      const i = start + j;
      // RND-02, RND-09. g is shared by a group, or by a channel.
      const shared = family === 'outlier-channel' ? i % d.channels : Math.floor(i / GROUP);
      if (shared !== drawn) {
        philox(key0, key1, shared, Math.floor(shared / 2 ** 32), number, use + 2, g);
        drawn = shared;
        k = exponentFor(family, g[0]!, range);
        power = k >= LEAST && k <= MOST ? twoTo(k) : 0;
      }
      const n = integerOf(family, i, sums[j]! - MEAN, a0[j]!, b2[j]!, g[0]!);
      const small = power !== 0 && n < SMALL && n > -SMALL;
      out[done + j] = small ? roundedSmall(n, power, type) : rounded(n, k, type);
    }
    done += count;
  }
}
