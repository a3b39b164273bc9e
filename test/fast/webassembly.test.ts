/** What the WebAssembly path has of its own: steps, chunks, blocks left to TypeScript, and engines without it. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { hif4TypeScript } from '../../src/fast/hif4-typescript.ts';
import { mxfp4TypeScript } from '../../src/fast/mxfp4-typescript.ts';
import {
  hif4DequantizeWebAssembly,
  hif4QuantizeWebAssembly,
  hif4WebAssembly,
  mxfp4DequantizeWebAssembly,
  mxfp4QuantizeWebAssembly,
  mxfp4WebAssembly,
} from '../../src/fast/wasm-codecs.ts';
import { hif4Steps } from '../../src/fast/wasm-hif4-steps.ts';
import { CHUNK } from '../../src/fast/wasm-memory.ts';
import { mxfp4Steps } from '../../src/fast/wasm-mxfp4-steps.ts';
import { hif4Parameters, hif4Policy } from '../../src/format/hif4-policy.ts';
import { type Mxfp4Policy, mxfp4Parameters, mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { fillFamily } from '../../src/random/families.ts';
import { pairwise } from './policies.ts';

const hex = (words: readonly number[]): string => words.map((w) => w.toString(16)).join(' ');

describe('steps', () => {
  test('MXFP4: the ties of E2M1 under scale 1, by rule [MX-12]', () => {
    const steps = (ties: Mxfp4Policy['ties']) => mxfp4Steps(mxfp4Policy('ocp', { ties }));
    // 1/4, 3/4, 5/4, 7/4, 5/2, 7/2 and 5: a tie goes to the even code, up, or down.
    const even = '3e800001 3f400000 3fa00001 3fe00000 40200001 40600000 40a00001';
    const away = '3e800000 3f400000 3fa00000 3fe00000 40200000 40600000 40a00000';
    const truncate = '3f000000 3f800000 3fc00000 40000000 40400000 40800000 40c00000';
    expect(hex(steps('even').positive.words)).toBe(even);
    expect(hex(steps('away').positive.words)).toBe(away);
    expect(hex(steps('truncate').negative.words)).toBe(truncate);
    expect(hex(steps('ceil').negative.words)).toBe(truncate);
    expect(steps('ceil').positive.fromNonzero).toBe(true);
  });

  test('MXFP4: where each scale rule goes to the next exponent [MX-05, MX-06, MX-07, MX-08]', () => {
    const steps = (scale: Mxfp4Policy['scale']) => mxfp4Steps(mxfp4Policy('ocp', { scale })).scale;
    const found = (['floor', 'ceil', 'even', 'rceil'] as const).map((scale) => hex(steps(scale)));
    expect(found).toEqual(['', '3f800001', '3fe00000', '3fc00001']);
  });

  test('HiF4 under scale 1: levels at 4 and 2, codes at odd eighths [HIF4-10, HIF4-11, HIF4-12]', () => {
    const { byFraction } = hif4Steps(hif4Policy('authors', { input: 'f32' }));
    const { four, two, positive } = byFraction[0]!;
    expect(hex([four, two])).toBe('40800000 40000000');
    // 1/8, 3/8 to 13/8: half-away.
    expect(hex(positive.words)).toBe('3e000000 3ec00000 3f200000 3f600000 3f900000 3fb00000 3fd00000');
  });
});

describe('which policies have a kernel', () => {
  test('HiF4: all but those whose products can underflow to another code [HIF4-20]', () => {
    for (const policy of pairwise(hif4Parameters)) {
      const without = policy.products === 'bf16' && ['ceil', 'floor', 'odd'].includes(policy.ties);
      expect(hif4QuantizeWebAssembly(policy) === undefined).toBe(without);
    }
    expect(hif4DequantizeWebAssembly()).toBeDefined();
  });

  test('MXFP4: all [MX-20]', () => {
    for (const policy of pairwise(mxfp4Parameters)) {
      expect(mxfp4QuantizeWebAssembly(policy)).toBeDefined();
    }
    expect(mxfp4DequantizeWebAssembly()).toBeDefined();
  });
});

/** More than two chunks of Gaussian numbers, with blocks of every kind that a kernel leaves, at chunk ends too. */
function manyBlocks(blockSize: number): Uint32Array {
  const words = new Uint32Array(2 * CHUNK + 5 * blockSize);
  fillFamily({ family: 'gauss', seed: 3n, operand: 0, type: 'f32', channels: blockSize }, 0, words);
  const last = CHUNK / blockSize - 1;
  const put = (block: number, element: number, word: number): void => {
    words[block * blockSize + element] = word;
  };
  put(0, 0, 0x7fc00001);
  put(last, blockSize - 1, 0xff800000);
  put(last + 1, 1, 0x7f7fffff);
  put(last + 3, 2, 0x7f000000);
  words.fill(0x80000000, (last + 5) * blockSize, (last + 6) * blockSize);
  words.fill(0x00000001, (last + 7) * blockSize, (last + 8) * blockSize);
  words.fill(0x80800000, (last + 9) * blockSize, (last + 10) * blockSize);
  put(2 * last + 6, 0, 0x7f800000);
  return words;
}

describe('whole arrays, as the TypeScript path has them', () => {
  test.each(['authors', 'ascend', 'authors-torch-bf16'])('HiF4 %s [HIF4-05, CON-05]', (profile) => {
    const policy = hif4Policy(profile);
    const words = manyBlocks(64);
    const answers = [hif4TypeScript, hif4WebAssembly].map((codec) => {
      const scales = new Uint32Array(words.length / 64);
      const codes = new Uint8Array(words.length / 2);
      const back = new Uint32Array(words.length);
      codec(policy).quantize(words, scales, codes);
      codec(policy).dequantize(scales, codes, back);
      return { scales, codes, back };
    });
    expect(answers[1]).toEqual(answers[0]);
  });

  test.each(['ocp', 'torchao-even', 'triton-rtne-up', 'ggml'])('MXFP4 %s [MX-04, CON-05]', (profile) => {
    const policy = mxfp4Policy(profile);
    const words = manyBlocks(32);
    const answers = [mxfp4TypeScript, mxfp4WebAssembly].map((codec) => {
      const scales = new Uint8Array(words.length / 32);
      const codes = new Uint8Array(words.length / 2);
      const back = new Uint32Array(words.length);
      codec(policy).quantize(words, scales, codes);
      codec(policy).dequantize(scales, codes, back);
      return { scales, codes, back };
    });
    expect(answers[1]).toEqual(answers[0]);
  });

  test('a refusal names the block of the whole array [CON-05]', () => {
    const words = manyBlocks(64).subarray(64);
    const policy = hif4Policy('authors', { nonfinite: 'error' });
    const message = 'unit 254: element 63 is an infinity';
    for (const codec of [hif4TypeScript, hif4WebAssembly]) {
      const scales = new Uint32Array(words.length / 64);
      const codes = new Uint8Array(words.length / 2);
      expect(() => codec(policy).quantize(words, scales, codes)).toThrow(message);
    }
  });
});

describe('engines without it', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  const refusing = {
    validate: (): boolean => true,
    Memory: class {
      readonly buffer = new ArrayBuffer(0x20000);
    },
    Module: class {
      constructor() {
        throw new RangeError('WebAssembly.Compile is disallowed on the main thread');
      }
    },
  };

  test.each([
    ['no WebAssembly', undefined],
    ['no SIMD', { validate: (): boolean => false }],
    ['no synchronous compilation', refusing],
  ])('%s: the TypeScript path answers [HIF4-05]', async (_, engine) => {
    vi.stubGlobal('WebAssembly', engine);
    vi.resetModules();
    const { hif4Codec } = await import('../../src/fast/hif4.ts');
    const codecs = await import('../../src/fast/wasm-codecs.ts');
    expect(codecs.hif4QuantizeWebAssembly(hif4Policy())).toBeUndefined();
    expect(codecs.hif4DequantizeWebAssembly()).toBeUndefined();
    const words = new Uint32Array(2048).fill(0x40e00000); // 7 is 1.75 x 2 x 2 x 1
    const scales = new Uint32Array(32);
    const codes = new Uint8Array(1024);
    const back = new Uint32Array(2048);
    hif4Codec(hif4Policy()).quantize(words, scales, codes);
    hif4Codec(hif4Policy()).dequantize(scales, codes, back);
    expect(back).toEqual(words);
  });
});
