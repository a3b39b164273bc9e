/** Whole units and blocks: every path against a reference, which is the definition or a third implementation. */

import { HIF4_PATHS, MXFP4_PATHS, type Path } from '../../src/fast/paths.ts';
import { decodeUnit, encodeUnit } from '../../src/format/hif4.ts';
import type { HiF4Policy } from '../../src/format/hif4-policy.ts';
import { decodeBlock, encodeBlock } from '../../src/format/mxfp4.ts';
import type { Mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { f32Value } from '../../src/format/scalar.ts';
import { encode, type FloatValue } from '../../src/number/binary-format.ts';
import { FP32 } from '../../src/number/floats.ts';

/** What a block becomes and what that stands for; or the message of a refusal. */
export interface Answer {
  readonly scale: number;
  readonly codes: readonly number[];
  /** FP32 words. */
  readonly back: readonly number[];
}

const words = (values: readonly FloatValue[]): number[] =>
  values.map((v) => encode(FP32, v, 'even', 'nonfinite'));

const attempt = <T>(run: () => T): T | string => {
  try {
    return run();
  } catch (error) {
    return (error as Error).message;
  }
};

export function definedUnit(x: Uint32Array, policy: HiF4Policy): Answer {
  const { word, codes } = encodeUnit(Array.from(x, f32Value), policy);
  return { scale: word, codes, back: words(decodeUnit(word, codes)) };
}

export function definedBlock(x: Uint32Array, policy: Mxfp4Policy): Answer {
  const { scale, codes } = encodeBlock(Array.from(x, f32Value), policy);
  return { scale, codes, back: words(decodeBlock(scale, codes)) };
}

const nibbles = (bytes: Uint8Array): number[] => [...bytes].flatMap((b) => [b & 15, b >> 4]);

const shown = (answer: Answer | string): string =>
  typeof answer === 'string'
    ? answer
    : `${answer.scale.toString(16)} ${answer.codes.join()} ${answer.back.join()}`;

function difference<P, S extends Uint32Array | Uint8Array>(
  paths: readonly Path<P, S>[],
  x: Uint32Array,
  policy: P,
  scales: S,
  define: (x: Uint32Array, policy: P) => Answer,
): string | undefined {
  const expected = shown(attempt(() => define(x, policy)));
  for (const { name, codec } of paths) {
    const codes = new Uint8Array(x.length / 2);
    const back = new Uint32Array(x.length);
    const found = attempt(() => {
      const made = codec(policy);
      made.quantize(x, scales, codes);
      made.dequantize(scales, codes, back);
      return { scale: scales[0]!, codes: nibbles(codes), back: [...back] };
    });
    if (shown(found) === expected) continue;
    const input = Array.from(x, (w) => w.toString(16)).join(' ');
    return `${name} under ${JSON.stringify(policy)}\n${input}\ngives   ${shown(found)}\nand not ${expected}`;
  }
  return undefined;
}

/** The first path that treats a unit of 64 FP32 words unlike the definition, with what it gives; else undefined. */
export const unitDifference = (x: Uint32Array, policy: HiF4Policy): string | undefined =>
  difference(HIF4_PATHS, x, policy, new Uint32Array(1), definedUnit);

/** The same for a block of 32 FP32 words. */
export const blockDifference = (x: Uint32Array, policy: Mxfp4Policy): string | undefined =>
  difference(MXFP4_PATHS, x, policy, new Uint8Array(1), definedBlock);
