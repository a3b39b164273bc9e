/** Quantize to bytes and back: the definition, every path, and the native baseline, in turns. */
import type { BlockCodec, Scales } from '../src/fast/block-codec.ts';
import { HIF4_PATHS, MXFP4_PATHS } from '../src/fast/paths.ts';
import { hif4Policy } from '../src/format/hif4-policy.ts';
import { mxfp4Policy } from '../src/format/mxfp4-policy.ts';
import { fillFamily } from '../src/random/families.ts';
import { hif4Definition, mxfp4Definition } from './definition.ts';
import { fastest, inTurns, type Turn, warmUp } from './measure.ts';
import { compileNative, NATIVE_BUILDS, type Native } from './native.ts';
import type { BenchOptions, Section, SectionResult, Tell } from './section.ts';

/** The native program gives the best of five after one that does not count; so do the others, once they are warm. */
const RUNS = 5;
/** The definition needs a second for 2^19 elements; its cost is the same for every block. */
const DEFINITION_ELEMENTS = 2 ** 14;

interface Format {
  readonly name: string;
  readonly scales: (count: number) => Scales;
  readonly definition: BlockCodec;
  readonly paths: readonly { readonly name: string; readonly codec: BlockCodec }[];
}

const FORMATS = (): readonly Format[] => [
  {
    name: 'hif4',
    scales: (count) => new Uint32Array(count),
    definition: hif4Definition(hif4Policy()),
    paths: HIF4_PATHS.map(({ name, codec }) => ({ name, codec: codec(hif4Policy()) })),
  },
  {
    name: 'mxfp4',
    scales: (count) => new Uint8Array(count),
    definition: mxfp4Definition(mxfp4Policy()),
    paths: MXFP4_PATHS.map(({ name, codec }) => ({ name, codec: codec(mxfp4Policy()) })),
  },
];

function gaussian(count: number): Uint32Array {
  const words = new Uint32Array(count);
  fillFamily({ family: 'gauss', seed: 1n, operand: 0, type: 'f32', channels: count }, 0, words);
  return words;
}

/** A turn of a codec: million elements a second. */
function turnOf(codec: BlockCodec, format: Format, words: Uint32Array, runs: number): Turn {
  const scales = format.scales(words.length / codec.blockSize);
  const codes = new Uint8Array(words.length / 2);
  const back = new Uint32Array(words.length);
  const work = (): void => {
    codec.quantize(words, scales, codes);
    codec.dequantize(scales, codes, back);
  };
  warmUp(work);
  return () => words.length / fastest(runs, work) / 1e6;
}

/** The names of the contestants, in the order of the columns. */
const columns = (format: Format): string[] => [
  'definition',
  ...format.paths.map((path) => path.name),
  ...NATIVE_BUILDS.map((build) => build.name),
];

async function measured(format: Format, all: Uint32Array, size: number, rounds: number, native: Native) {
  const words = all.subarray(0, size);
  const few = all.subarray(0, Math.min(size, DEFINITION_ELEMENTS));
  const turns: (Turn | undefined)[] = [
    turnOf(format.definition, format, few, 1),
    ...format.paths.map(({ codec }) => turnOf(codec, format, words, RUNS)),
    ...native.runs.map((run) => run && (() => run(format.name, size))),
  ];
  const present = turns.filter((turn) => turn !== undefined);
  const rates = await inTurns(present, rounds);
  return turns.map((turn) => (turn === undefined ? undefined : rates.shift()!));
}

const shown = (rate: number | undefined): string =>
  rate === undefined ? 'no compiler' : rate < 10 ? rate.toFixed(2) : rate.toFixed(0);

async function run({ rounds, sizes }: BenchOptions, tell: Tell): Promise<SectionResult> {
  tell('compiling the native baseline');
  const native = compileNative();
  const all = gaussian(Math.max(...sizes));
  const formats = FORMATS();
  const figures: Record<string, string | number | null>[] = [];
  const rows: string[][] = [];
  const ratioNames = formats[0]!.paths.map(({ name }) => `${name} / native -O2`);
  try {
    for (const format of formats) {
      for (const size of sizes) {
        tell(`${format.name}, 2^${Math.log2(size)} elements`);
        const rates = await measured(format, all, size, rounds, native);
        const baseline = rates[1 + format.paths.length];
        const ratios = format.paths.map((_, i) => (baseline === undefined ? null : rates[1 + i]! / baseline));
        for (const [i, name] of columns(format).entries()) {
          figures.push({
            format: format.name,
            elements: size,
            path: name,
            millionsPerSecond: rates[i] ?? null,
          });
        }
        rows.push([
          format.name,
          `2^${Math.log2(size)}`,
          ...rates.map(shown),
          ...ratios.map((r) => (r === null ? '' : r.toFixed(2))),
        ]);
      }
    }
  } finally {
    native.remove();
  }
  return {
    figures,
    header: ['format', 'elements', ...columns(formats[0]!), ...ratioNames],
    rows,
    notes: [
      `Million elements a second on one core: the median of ${rounds} turns, in each the best of ${RUNS} runs.`,
      'Gaussian FP32, quantized to bytes and back, under the default profiles (authors, ocp).',
      `The definition is timed on ${DEFINITION_ELEMENTS} elements at most.`,
    ],
  };
}

export const blockCodecs: Section = { name: 'codecs', title: 'Quantize to bytes and back', run };
