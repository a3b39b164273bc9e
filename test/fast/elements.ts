/** Elements of the two formats, fast path against definition, over grids of magnitudes and scales. */
import { elementCode as fastHiF4, productWith } from '../../src/fast/hif4.ts';
import { elementCode as fastMxfp4 } from '../../src/fast/mxfp4.ts';
import { type HiF4Trace, hif4Stages } from '../../src/format/hif4.ts';
import type { HiF4Policy } from '../../src/format/hif4-policy.ts';
import { type Mxfp4Trace, mxfp4Stages } from '../../src/format/mxfp4.ts';
import type { Mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import type { Signed } from '../../src/format/nonfinite.ts';
import { bf16Value } from '../../src/format/scalar.ts';

/** Every finite BF16 magnitude, 0 to 7f7f. */
export const MAGNITUDES = 0x7f80;

const bits = new Uint32Array(1);
const value = new Float32Array(bits.buffer);
function bf16Number(word: number): number {
  bits[0] = word << 16;
  return value[0]!;
}

const signed = (word: number, negative: boolean): Signed => {
  const decoded = bf16Value(word);
  if (decoded.kind !== 'finite') throw new Error('finite words only');
  return { negative, magnitude: decoded.magnitude };
};

/** Magnitudes `first`, `first + step`, ...: decoded once and used under every scale. */
export interface Grid {
  readonly words: readonly number[];
  readonly numbers: readonly number[];
  readonly values: readonly Signed[];
  readonly negative: boolean;
}

export function grid(first: number, step: number, negative: boolean): Grid {
  const words = Array.from({ length: Math.ceil((MAGNITUDES - first) / step) }, (_, j) => first + j * step);
  return { words, numbers: words.map(bf16Number), values: words.map((w) => signed(w, negative)), negative };
}

const none = new Map<number, number>();

/** Compares one HiF4 scale and increment over a grid; the number compared, or a message about the first difference. */
export function compareHiF4(g: Grid, e6m2: number, increment: number, policy: HiF4Policy): number | string {
  const product = productWith(e6m2, policy);
  for (let at = 0; at < g.words.length; at += 64) {
    const values = g.values.slice(at, at + 64);
    const trace = {
      input: { kind: 'finite', values, dictated: none },
      e6m2,
      e1_8: increment > 0 ? 0xff : 0,
      e1_16: increment > 1 ? 0xffff : 0,
    } as unknown as HiF4Trace;
    trace.rcp = hif4Stages.rcp(trace, policy);
    trace.scaled = hif4Stages.scaled(trace, policy);
    const defined = hif4Stages.codes(trace, policy);
    for (let j = 0; j < values.length; j++) {
      const x = g.numbers[at + j]!;
      const fast = fastHiF4(x, product(x), increment, g.negative ? 8 : 0, policy);
      if (fast !== defined[j]) {
        return `BF16 ${g.words[at + j]!.toString(16)}, E6M2 ${e6m2.toString(16)}, increment ${increment}: ${fast}, not ${defined[j]}`;
      }
    }
  }
  return g.words.length;
}

/** Compares one MXFP4 scale over a grid; the number compared, or a message about the first difference. */
export function compareMxfp4(g: Grid, scale: number, policy: Mxfp4Policy): number | string {
  const trace = {
    input: { kind: 'finite', values: g.values, dictated: none },
    scale,
  } as unknown as Mxfp4Trace;
  trace.scaled = mxfp4Stages.scaled(trace, policy);
  const defined = mxfp4Stages.codes(trace, policy);
  const inverse = 2 ** (127 - scale);
  for (let j = 0; j < g.words.length; j++) {
    const fast = fastMxfp4(g.numbers[j]!, inverse, g.negative ? 8 : 0, policy);
    if (fast !== defined[j]) {
      return `BF16 ${g.words[j]!.toString(16)}, E8M0 ${scale.toString(16)}: ${fast}, not ${defined[j]}`;
    }
  }
  return g.words.length;
}
