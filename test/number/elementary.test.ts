/** The elementary functions against bounds worked out apart from them: random arguments, special values, hard points. */
import { describe, expect, test, vi } from 'vitest';
import * as elementary from '../../src/number/elementary.ts';
import { exactExp, exactExpm1, exactLog, exactLog1p } from '../../src/number/elementary-exact.ts';
import { fromNumber } from '../../src/number/exact.ts';
import { BINARY32, BINARY64 } from '../../src/number/floats.ts';
import { exactFma } from '../../src/number/fma-exact.ts';
import { exactRoot } from '../../src/number/sqrt-exact.ts';
import {
  from32,
  from64,
  isNearest,
  isNearestFma,
  isNearestRoot,
  randomWords,
  type Transcendental,
  type Width,
} from '../independent/elementary-by-bounds.ts';
import { argumentsOf } from './elementary-arguments.ts';

const FUNCTIONS: readonly (readonly [Transcendental, Width, (x: number) => number, (x: number) => number])[] =
  [
    ['exp', 64, elementary.exp, (x) => exactExp(x, BINARY64)],
    ['exp', 32, elementary.exp32, (x) => exactExp(x, BINARY32)],
    ['expm1', 64, elementary.expm1, (x) => exactExpm1(x, BINARY64)],
    ['expm1', 32, elementary.expm132, (x) => exactExpm1(x, BINARY32)],
    ['log', 64, elementary.log, (x) => exactLog(x, BINARY64)],
    ['log', 32, elementary.log32, (x) => exactLog(x, BINARY32)],
    ['log1p', 64, elementary.log1p, (x) => exactLog1p(x, BINARY64)],
    ['log1p', 32, elementary.log1p32, (x) => exactLog1p(x, BINARY32)],
  ];

const BY_NAME: Readonly<Record<string, (...x: number[]) => number>> = {
  ...(elementary as unknown as Record<string, (...x: number[]) => number>),
};

/** Words of binary64 or binary32 in hex, "x:y". */
const pair = (text: string): [number, number] => {
  const numbers = text
    .split(':')
    .map((word) => (word.length === 16 ? from64(BigInt(`0x${word}`)) : from32(Number.parseInt(word, 16))));
  return [numbers[0]!, numbers[1]!];
};

describe.each(FUNCTIONS)('%s in binary%i', (name, width, fast, definition) => {
  test('100,000 random arguments [ELE-01, ELE-03, ELE-04, ELE-09]', () => {
    for (const x of argumentsOf(name, width, 100_000, 1)) {
      const y = fast(x);
      if (!isNearest(name, x, y, width)) expect.fail(`${name}(${x}) is not ${y}`);
    }
  });

  test('the definition and the path for speed agree [ELE-02]', () => {
    for (const x of argumentsOf(name, width, 5000, 2)) expect([x, definition(x)]).toEqual([x, fast(x)]);
  });
});

describe('special values [ELE-03, ELE-04, ELE-05, ELE-06]', () => {
  test.each([
    ['exp', '7ff0000000000000:7ff0000000000000 fff0000000000000:0000000000000000'],
    ['exp', '0000000000000000:3ff0000000000000 8000000000000000:3ff0000000000000'],
    ['exp', '0000000000000001:3ff0000000000000 800fffffffffffff:3ff0000000000000'],
    ['exp', '40862e42fefa39ef:7fefffffffffff2a 40862e42fefa39f0:7ff0000000000000'], // about 1024 ln 2
    ['exp', 'c0874910d52d3051:0000000000000001 c0874910d52d3052:0000000000000000'], // about -1075 ln 2
    ['exp', '7fefffffffffffff:7ff0000000000000 ffefffffffffffff:0000000000000000'],
    ['expm1', '7ff0000000000000:7ff0000000000000 fff0000000000000:bff0000000000000'],
    ['expm1', '0000000000000000:0000000000000000 8000000000000000:8000000000000000'],
    ['expm1', '0000000000000001:0000000000000001 8000000000000001:8000000000000001'],
    ['expm1', 'c043000000000000:bff0000000000000 40862e42fefa39f0:7ff0000000000000'],
    ['log', '0000000000000000:fff0000000000000 8000000000000000:fff0000000000000'],
    ['log', '3ff0000000000000:0000000000000000 7ff0000000000000:7ff0000000000000'],
    ['log', 'bff0000000000000:7ff8000000000000 fff0000000000000:7ff8000000000000'],
    ['log1p', 'bff0000000000000:fff0000000000000 bff0000000000001:7ff8000000000000'],
    ['log1p', '0000000000000000:0000000000000000 8000000000000000:8000000000000000'],
    ['log1p', '0000000000000001:0000000000000001 8000000000000001:8000000000000001'],
    ['log1p', '7ff0000000000000:7ff0000000000000 fff0000000000000:7ff8000000000000'],
    ['sqrt', '0000000000000000:0000000000000000 8000000000000000:8000000000000000'],
    ['sqrt', '7ff0000000000000:7ff0000000000000 bff0000000000000:7ff8000000000000'],
    ['sqrt', '0000000000000001:1e60000000000000 4010000000000000:4000000000000000'],
    ['sqrt', '3fefffffffffffff:3fefffffffffffff 3ff0000000000001:3ff0000000000000'], // either side of 1
    ['exp32', '7f800000:7f800000 ff800000:00000000 00000000:3f800000 80000001:3f800000'],
    ['exp32', '42b17217:7f7fff84 42b17218:7f800000 c2cff1b4:00000001 c2cff1b5:00000000'],
    ['expm132', '80000000:80000000 00000001:00000001 c1b00000:bf800000 ff800000:bf800000'],
    ['log32', '00000000:ff800000 80000000:ff800000 3f800000:00000000 bf800000:7fc00000 7f800000:7f800000'],
    ['log1p32', 'bf800000:ff800000 80000000:80000000 00000001:00000001 bf800001:7fc00000'],
    ['sqrt32', '80000000:80000000 00000001:1a3504f3 7f800000:7f800000 bf800000:7fc00000'],
  ] as const)('%s %s', (name, pairs) => {
    for (const text of pairs.split(' ')) {
      const [x, y] = pair(text);
      expect([text, BY_NAME[name]!(x)]).toEqual([text, y]);
    }
  });

  test.each(Object.keys(BY_NAME))('NaN gives NaN: %s', (name) => {
    expect(BY_NAME[name]!(Number.NaN, 1, 1)).toBeNaN();
  });

  test('below 2^-54 expm1 and log1p are the argument, exp is 1 [ELE-05]', () => {
    // x - x^2 < log1p(x) < x < expm1(x) < x + x^2, and x^2 is less than a quarter of an ulp.
    for (const x of [2 ** -55, -(2 ** -55), 1.5 * 2 ** -300, -(2 ** -1022), 5 * 2 ** -1074]) {
      expect([elementary.expm1(x), elementary.log1p(x), elementary.exp(x)]).toEqual([x, x, 1]);
    }
  });
});

/** Any finite number of a width. */
function anyNumber(word: () => number, width: Width): number {
  for (;;) {
    const x = width === 64 ? from64((BigInt(word()) << 32n) | BigInt(word())) : from32(word());
    if (Number.isFinite(x)) return x;
  }
}

describe.each([
  [64, elementary.sqrt, BINARY64],
  [32, elementary.sqrt32, BINARY32],
] as const)('sqrt in binary%i [ELE-06]', (width, root, format) => {
  const check = (x: number): void => {
    const y = root(x);
    if (!isNearestRoot(x, y, width) || exactRoot(fromNumber(x), format) !== y)
      expect.fail(`sqrt(${x}) is not ${y}`);
  };

  test('100,000 random arguments', () => {
    const word = randomWords(3);
    for (let i = 0; i < 100_000; i++) check(Math.abs(anyNumber(word, width)) || 1);
  });

  test('hard points: beside the squares of midpoints', () => {
    const ulp = width === 64 ? 2 ** -52 : 2 ** -23;
    const round = width === 64 ? (x: number) => x : Math.fround;
    const word = randomWords(4);
    for (let i = 0; i < 20_000; i++) {
      // (R + 1/2)^2 = R^2 + R + 1/4: a root just above R + 1/2 needs R^2 + R + 1.
      const r = 1 + (word() % (i < 1000 ? 1000 : 2 ** 23)) * ulp;
      const square = round(r * r + r * ulp);
      for (const x of [square, square + ulp, square - ulp, square + 2 * ulp, square - 2 * ulp])
        if (x > 0) check(round(x));
    }
  });
});

test('an engine whose Math.sqrt is off by some ulp does not matter [ELE-06]', () => {
  const platform = Math.sqrt;
  const word = randomWords(6);
  const cases = Array.from({ length: 2000 }, () => Math.abs(anyNumber(word, 64)));
  const expected = cases.map(elementary.sqrt);
  for (const ulps of [-3, -1, 1, 2]) {
    const spy = vi.spyOn(Math, 'sqrt').mockImplementation((x) => platform(x) + ulps * 2 ** -52);
    try {
      expect(cases.map(elementary.sqrt)).toEqual(expected);
    } finally {
      spy.mockRestore();
    }
  }
});

describe.each([
  [64, elementary.fma, BINARY64],
  [32, elementary.fma32, BINARY32],
] as const)('fma in binary%i [ELE-07, ELE-08]', (width, fma, format) => {
  const round = width === 64 ? (x: number) => x : Math.fround;
  const check = (a: number, b: number, c: number): void => {
    const y = fma(a, b, c);
    if (!isNearestFma(a, b, c, y, width) || !Object.is(exactFma(a, b, c, format), y))
      expect.fail(`${a} x ${b} + ${c} is not ${y}`);
  };

  test('100,000 random triples: all ranges, cancellation, subnormals, overflow', () => {
    const word = randomWords(5);
    for (let i = 0; i < 100_000; i++) {
      const [a, b, c] = [anyNumber(word, width), anyNumber(word, width), anyNumber(word, width)];
      const near = round(-(a * b) * (1 + (word() % 5) * 2 ** -(word() % 54)));
      const middling = round((word() / 2 ** 32) * 2 ** ((word() % 120) - 60));
      const other = round((word() / 2 ** 32 - 0.5) * 2 ** ((word() % 120) - 60));
      if (i % 4 === 0) check(a, b, c);
      else if (i % 4 === 1) check(a, b, Number.isFinite(near) ? near : c);
      else if (i % 4 === 2) check(middling, other, round(-(middling * other) * (1 + 2 ** -(word() % 60))));
      else check(middling, other, round(other * 2 ** ((word() % 200) - 100)));
    }
  });

  test('ties and what is just beside them', () => {
    const ulp = width === 64 ? 2 ** -52 : 2 ** -23;
    for (const tiny of [0, ulp * ulp, -ulp * ulp, ulp ** 3, 2 ** -140]) {
      for (const k of [1, 3, 5]) check(k * ulp, 0.5, 1); // odd multiples of half an ulp of 1
      check(1 + ulp, 1 + ulp, tiny);
      check(1 + ulp, 1 - ulp, tiny);
      check(1.5, 1 + ulp, tiny);
    }
  });

  test('zeros, infinities and signs', () => {
    const huge = width === 64 ? Number.MAX_VALUE : from32(0x7f7fffff);
    const smallest = width === 64 ? 2 ** -1074 : 2 ** -149;
    const rows: [number, number, number, number][] = [
      [0, 1, -0, 0],
      [-0, 1, -0, -0],
      [1, 1, -1, 0],
      [smallest, smallest, -0, 0],
      [-smallest, smallest, 0, -0],
      [-smallest, smallest, smallest, smallest],
      [Number.POSITIVE_INFINITY, 0, 1, Number.NaN],
      [Number.POSITIVE_INFINITY, 1, Number.NEGATIVE_INFINITY, Number.NaN],
      [huge, huge, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
      [huge, 2, -huge, huge],
      [huge, huge, -huge, Number.POSITIVE_INFINITY],
    ];
    for (const [a, b, c, y] of rows) expect([a, b, c, fma(a, b, c)]).toEqual([a, b, c, y]);
  });
});
