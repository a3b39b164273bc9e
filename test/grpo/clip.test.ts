/** Clipping against PyTorch's recorded results, and the norm against exact sums. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clipByNorm, clipCoefficient, totalNorm } from '../../src/grpo/clip.ts';
import type { Dtype } from '../../src/grpo/float-arithmetic.ts';
import { formatHexNumbers, parseHexNumbers } from '../../src/grpo/hex-numbers.ts';

interface Clipping {
  readonly id: string;
  readonly dtype: Dtype;
  readonly config: { readonly max_norm: number };
  readonly grads: readonly string[][];
  readonly expected: { readonly total_norm: string; readonly grads: readonly string[][] };
}

const RECORDS: readonly Clipping[] = readFileSync(
  new URL('../cases/frameworks/clip_grad.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

test.each(RECORDS.map((r) => [r.id, r] as const))(
  'PyTorch: %s [ADW-09, ADW-10]',
  (_, { dtype, config, grads, expected }) => {
    const tensors = grads.map((list) => parseHexNumbers(list, dtype, 'grads'));
    const clipped = clipByNorm(tensors, config.max_norm, dtype);
    expect(formatHexNumbers(Float64Array.of(clipped.norm), dtype)).toEqual([expected.total_norm]);
    expect(clipped.grads.map((g) => formatHexNumbers(Float64Array.from(g), dtype))).toEqual(expected.grads);
    expect(clipped.skip).toBe(/^7f[cf8]/.test(expected.total_norm));
  },
);

test('the exact norm is the root of the exact sum, rounded once [ADW-09]', () => {
  const tensors = [Float64Array.of(3, 0), Float64Array.of(-4), new Float64Array(0)];
  expect(totalNorm(tensors, 'float32', 'exact')).toBe(5);
  expect(totalNorm(tensors, 'float32')).toBe(5);
  // 2^60 + 1 + 2^60: the 1 is lost where sums are rounded, and so is a root that is not.
  const uneven = [Float64Array.of(2 ** 30, 1, 2 ** 30)];
  expect(totalNorm(uneven, 'float64', 'exact')).toBe(Math.sqrt(2) * 2 ** 30);
  expect(totalNorm([new Float64Array(3)], 'float64', 'exact')).toBe(0);
  expect(totalNorm([Float64Array.of(Number.NEGATIVE_INFINITY)], 'float64', 'exact')).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(totalNorm([Float64Array.of(Number.NaN, 1)], 'float32', 'exact')).toBeNaN();
});

test('a reciprocal, then a product [ADW-10]', () => {
  // 1 / (2 + 1e-6) is rounded before it is multiplied; one division would give another last bit for some norms.
  const norms = Array.from({ length: 2000 }, (_, i) => Math.fround(5.1 + i / 7));
  const differing = norms.filter((norm) => {
    const divided = Math.fround(5 / Math.fround(norm + Math.fround(1e-6)));
    return clipCoefficient(norm, 5, 'float32') !== Math.min(1, divided);
  });
  expect(differing.length).toBeGreaterThan(100);
  expect(clipCoefficient(0.5, 5, 'float32')).toBe(1);
  expect(clipCoefficient(Number.POSITIVE_INFINITY, 1, 'float32')).toBe(0);
  expect(clipCoefficient(Number.NaN, 1, 'float64')).toBeNaN();
});
