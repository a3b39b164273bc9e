/**
 * A rounding function as the list of its steps: between two of them it is constant, so that a few hundred numbers state it
 * for all 2^16 or 2^32 inputs. Clauses: spec/vectors.md VEC-06.
 * @module
 */

/** From this input on, up to the next run, the function gives this code. */
export interface Run {
  readonly from: number;
  readonly code: number;
}

/** The steps inside [low, high], where each code is given by one interval of inputs; their first is `low` itself. */
function steps(f: (x: number) => number, low: number, high: number): Run[] {
  const first = { from: low, code: f(low) };
  const found: Run[] = [first];
  const search = (a: number, codeA: number, b: number, codeB: number): void => {
    if (codeA === codeB) return;
    if (b === a + 1) {
      found.push({ from: b, code: codeB });
      return;
    }
    const middle = Math.floor((a + b) / 2);
    const code = f(middle);
    search(a, codeA, middle, code);
    search(middle, code, b, codeB);
  };
  search(low, first.code, high, f(high));
  return found;
}

/**
 * The runs of a conversion from BF16 or FP32: rounding is monotonic on the finite magnitudes of either sign, and a NaN is a
 * NaN whatever its payload. Neighbouring runs of one code are joined.
 * @param bits of the input, 16 or 32
 * @param infinity the word of +infinity
 */
export function runsOf(f: (x: number) => number, bits: 16 | 32, infinity: number): Run[] {
  const sign = 2 ** (bits - 1);
  const ranges = [0, sign].flatMap((s) => [
    [s, s],
    [s + 1, s + infinity - 1],
    [s + infinity, s + infinity],
    [s + infinity + 1, s + sign - 1],
  ]);
  const all = ranges.flatMap(([low, high]) => steps(f, low!, high!));
  return all.filter((run, i) => i === 0 || run.code !== all[i - 1]!.code);
}
