/**
 * Sizes of shapes that come from a file: an element count that a number cannot hold exactly is refused.
 * Clauses: spec/tensors.md TEN-03.
 * @module
 */
import { Fp4Error, type Fp4ErrorCode } from '../error.ts';

/** NumPy's own limit; no tensor here has a use for more. */
const MOST_DIMENSIONS = 64;

/**
 * TEN-03. The size of a shape's elements, in bytes or whatever unit one element is counted in.
 * A zero does not hide the other dimensions: they are multiplied all the same, since shapes derived from them would overflow.
 * @throws Fp4Error with the code given where the dimensions multiply beyond 2^53 - 1
 */
export function shapeSize(
  shape: readonly number[],
  itemSize: number,
  code: Fp4ErrorCode,
  where: string,
): number {
  if (shape.length > MOST_DIMENSIONS) {
    throw new Fp4Error(
      code,
      `${where}: ${shape.length} dimensions; at most ${MOST_DIMENSIONS} are supported`,
    );
  }
  let product = BigInt(itemSize);
  for (const size of shape) product *= BigInt(size === 0 ? 1 : size);
  if (product > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Fp4Error(code, `${where}: shape [${shape.join(', ')}] is too large`);
  }
  return shape.includes(0) ? 0 : Number(product);
}
