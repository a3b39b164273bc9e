/**
 * Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC11), as Random123 and the GPU libraries
 * have it. Clauses: spec/random.md RND-01.
 *
 * All of it is in 32-bit integers that may be negative: measured, that is 1.8 times as fast as unsigned ones, which JavaScript
 * keeps as binary64. A block is one long chain of dependent steps, so two side by side take 1.35 times as long as one.
 * @module
 */

const MULTIPLIER_0 = 0xd2511f53 | 0;
const HIGH_0 = 0xd251;
const LOW_0 = 0x1f53;
const MULTIPLIER_1 = 0xcd9e8d57 | 0;
const HIGH_1 = 0xcd9e;
const LOW_1 = 0x8d57;
const WEYL_0 = 0x9e3779b9 | 0;
const WEYL_1 = 0xbb67ae85 | 0;
const ROUNDS = 10;

/** The upper 32 bits of the product of two 32-bit numbers, one of them given by its halves; no sum here exceeds 32 bits. */
function multiplyHigh(high: number, low: number, b: number): number {
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = (Math.imul(high, bLow) + (Math.imul(low, bLow) >>> 16)) | 0;
  const carry = (Math.imul(low, bHigh) + (middle & 0xffff)) | 0;
  return (Math.imul(high, bHigh) + (middle >>> 16) + (carry >>> 16)) | 0;
}

/**
 * RND-01. One block of Philox4x32-10.
 * @param out receives the four 32-bit words of the result
 */
export function philox(
  key0: number,
  key1: number,
  counter0: number,
  counter1: number,
  counter2: number,
  counter3: number,
  out: Uint32Array,
): void {
  let k0 = key0 | 0;
  let k1 = key1 | 0;
  let c0 = counter0 | 0;
  let c1 = counter1 | 0;
  let c2 = counter2 | 0;
  let c3 = counter3 | 0;
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = multiplyHigh(HIGH_0, LOW_0, c0);
    const high1 = multiplyHigh(HIGH_1, LOW_1, c2);
    const low0 = Math.imul(MULTIPLIER_0, c0);
    const low1 = Math.imul(MULTIPLIER_1, c2);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + WEYL_0) | 0;
    k1 = (k1 + WEYL_1) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/**
 * RND-01. Two blocks whose counters differ in their last word alone.
 * @param outC receives the words for counter3
 * @param outD receives those for other3
 */
export function philoxPair(
  key0: number,
  key1: number,
  counter0: number,
  counter1: number,
  counter2: number,
  counter3: number,
  other3: number,
  outC: Uint32Array,
  outD: Uint32Array,
): void {
  // What differs enters the first round's last line, so that round's products are the same for both, and half the second's.
  let k0 = (key0 + WEYL_0) | 0;
  let k1 = (key1 + WEYL_1) | 0;
  const sharedHigh0 = multiplyHigh(HIGH_0, LOW_0, counter0) ^ key1;
  const shared0 = multiplyHigh(HIGH_1, LOW_1, counter2) ^ counter1 ^ key0;
  const shared1 = Math.imul(MULTIPLIER_1, counter2);
  const shared3 = Math.imul(MULTIPLIER_0, counter0);
  const secondC2 = sharedHigh0 ^ counter3;
  const secondD2 = sharedHigh0 ^ other3;
  const secondHigh0 = multiplyHigh(HIGH_0, LOW_0, shared0) ^ shared3 ^ k1;
  let c0 = multiplyHigh(HIGH_1, LOW_1, secondC2) ^ shared1 ^ k0;
  let d0 = multiplyHigh(HIGH_1, LOW_1, secondD2) ^ shared1 ^ k0;
  let c1 = Math.imul(MULTIPLIER_1, secondC2);
  let d1 = Math.imul(MULTIPLIER_1, secondD2);
  let c2 = secondHigh0;
  let d2 = secondHigh0;
  let c3 = Math.imul(MULTIPLIER_0, shared0);
  let d3 = c3;
  k0 = (k0 + WEYL_0) | 0;
  k1 = (k1 + WEYL_1) | 0;
  for (let round = 2; round < ROUNDS; round++) {
    const highC0 = multiplyHigh(HIGH_0, LOW_0, c0);
    const highD0 = multiplyHigh(HIGH_0, LOW_0, d0);
    const highC1 = multiplyHigh(HIGH_1, LOW_1, c2);
    const highD1 = multiplyHigh(HIGH_1, LOW_1, d2);
    const lowC0 = Math.imul(MULTIPLIER_0, c0);
    const lowD0 = Math.imul(MULTIPLIER_0, d0);
    const lowC1 = Math.imul(MULTIPLIER_1, c2);
    const lowD1 = Math.imul(MULTIPLIER_1, d2);
    c0 = highC1 ^ c1 ^ k0;
    d0 = highD1 ^ d1 ^ k0;
    c1 = lowC1;
    d1 = lowD1;
    c2 = highC0 ^ c3 ^ k1;
    d2 = highD0 ^ d3 ^ k1;
    c3 = lowC0;
    d3 = lowD0;
    k0 = (k0 + WEYL_0) | 0;
    k1 = (k1 + WEYL_1) | 0;
  }
  outC[0] = c0;
  outC[1] = c1;
  outC[2] = c2;
  outC[3] = c3;
  outD[0] = d0;
  outD[1] = d1;
  outD[2] = d2;
  outD[3] = d3;
}
