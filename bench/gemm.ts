/** The exact product of HiF4 operands, beside a C triple loop of the same job (bench/gemm.cpp). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gemm } from '../src/matmul/gemm.ts';
import type { Operand } from '../src/matmul/operand.ts';
import { blockOperand } from '../src/matmul/operand-blocks.ts';
import { fillFamily } from '../src/random/families.ts';
import { quantizeTensor } from '../src/tensor/quantize.ts';
import { inTurns } from './measure.ts';
import type { BenchOptions, Section, SectionResult, Tell } from './section.ts';

const SIZE = 1024;
const SOURCE = fileURLToPath(new URL('../../bench/gemm.cpp', import.meta.url));
const BUILDS = [
  ['C, -O2 -fno-tree-vectorize', ['-O2', '-fno-tree-vectorize']],
  ['C, -O2', ['-O2']],
  ['C, -O3 -march=native', ['-O3', '-march=native']],
] as const;

function operand(format: string, index: number): Operand {
  const words = new Uint32Array(SIZE * SIZE);
  fillFamily({ family: 'gauss', seed: 1n, operand: index, type: 'f32', channels: SIZE }, 0, words);
  const values = Float64Array.from(new Float32Array(words.buffer));
  const { tensor } = quantizeTensor(values, [SIZE, SIZE], 1, format);
  return blockOperand(format, tensor, SIZE, SIZE);
}

const seconds = (work: () => void): number => {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
};

async function run({ rounds }: BenchOptions, tell: Tell): Promise<SectionResult> {
  tell('products');
  const [a, b] = [operand('hif4', 0), operand('hif4', 1)];
  const [ma, mb] = [operand('mxfp4', 0), operand('mxfp4', 1)];
  const folder = mkdtempSync(join(tmpdir(), 'fp4-bench-'));
  const native = BUILDS.flatMap(([name, flags], k) => {
    const program = join(folder, `gemm${k}`);
    try {
      execFileSync('g++', [...flags, SOURCE, '-o', program], { stdio: 'ignore' });
    } catch {
      return [];
    }
    const options = { stdio: ['ignore', 'pipe', 'ignore'] } as const;
    return [
      {
        name,
        turn: () => Number(execFileSync(program, [`${SIZE}`], { ...options, stdio: [...options.stdio] })),
      },
    ];
  });
  const contestants = [
    { name: 'exact, HiF4', turn: () => seconds(() => gemm(a, b)) },
    { name: 'exact, MXFP4', turn: () => seconds(() => gemm(ma, mb)) },
    { name: 'exact, HiF4, TypeScript alone', turn: () => seconds(() => gemm(a, b, { simd: false })) },
    ...native,
  ];
  try {
    const times = await inTurns(
      contestants.map(({ turn }) => turn),
      rounds,
    );
    const rate = (t: number): string => (SIZE ** 3 / t / 1e9).toFixed(2);
    return {
      figures: contestants.map(({ name }, k) => ({ contestant: name, seconds: times[k]! })),
      header: ['1024 x 1024 x 1024', 's', 'G products/s', 'of ours'],
      rows: contestants.map(({ name }, k) => [
        name,
        times[k]!.toFixed(3),
        rate(times[k]!),
        (times[0]! / times[k]!).toFixed(2),
      ]),
      notes: [
        'One thread, operands in memory; medians of turns. C: integers of 8 bits, two scales a group, best of three.',
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const products: Section = { name: 'gemm', title: 'Products', run };
