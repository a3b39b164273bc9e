/** Block vectors through every path of src/fast, all blocks of a group in one array. */
import { describe, expect, test } from 'vitest';
import type { BlockCodec, Scales } from '../../src/fast/block-codec.ts';
import { HIF4_PATHS, MXFP4_PATHS } from '../../src/fast/paths.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { type BlockTest, codes, filesOf, type VectorFile, words } from './vectors.ts';

type Named = Readonly<Record<string, string>>;

const packed = (nibbles: readonly number[]): Uint8Array =>
  Uint8Array.from({ length: nibbles.length / 2 }, (_, i) => nibbles[2 * i]! | (nibbles[2 * i + 1]! << 4));

/** The codec of each path for a file's policy, and an array of its scales. */
const pathsOf = (file: VectorFile, policy: Named): { name: string; codec: BlockCodec<Scales> }[] =>
  file.function.startsWith('hif4')
    ? HIF4_PATHS.map(({ name, codec }) => ({ name, codec: codec(hif4Policy(undefined, policy)) }))
    : MXFP4_PATHS.map(({ name, codec }) => ({ name, codec: codec(mxfp4Policy(undefined, policy)) }));

const scalesOf = (file: VectorFile, values: number | readonly number[]): Scales => {
  const Type = file.function.startsWith('hif4') ? Uint32Array : Uint8Array;
  return typeof values === 'number' ? new Type(values) : Type.from(values);
};

const valid = (tests: readonly BlockTest[]): BlockTest[] => tests.filter((t) => t.expected !== undefined);

describe.each(filesOf(/^(hif4|mxfp4)_quantize/).map((file) => [file.name, file] as const))(
  '%s',
  (_, file) => {
    test('every path [VEC-05]', () => {
      const shift = file.function.endsWith('_f32') ? 0 : 16;
      for (const { policy, tests } of file.groups) {
        const blocks = valid(tests);
        const input = Uint32Array.from(
          blocks.flatMap((t) => words(t.inputs['x']!)),
          (w) => w << shift,
        );
        const expected = {
          scales: scalesOf(
            file,
            blocks.map((t) => words(t.expected!['scale']!)[0]!),
          ),
          codes: packed(blocks.flatMap((t) => codes(t.expected!['codes']!))),
        };
        for (const { name, codec } of pathsOf(file, policy)) {
          const found = { scales: scalesOf(file, blocks.length), codes: new Uint8Array(input.length / 2) };
          codec.quantize(input, found.scales, found.codes);
          expect({ name, ...found }).toEqual({ name, ...expected });
        }
      }
    });
  },
);

describe.each(filesOf(/^(hif4|mxfp4)_dequantize/).map((file) => [file.name, file] as const))(
  '%s',
  (_, file) => {
    test('every path [VEC-05]', () => {
      const group = file.groups.find(({ policy }) => policy['output'] === 'f32')!;
      const blocks = valid(group.tests);
      const scales = scalesOf(
        file,
        blocks.map((t) => words(t.inputs['scale']!)[0]!),
      );
      const input = packed(blocks.flatMap((t) => codes(t.inputs['codes']!)));
      const expected = Uint32Array.from(blocks.flatMap((t) => words(Object.values(t.expected!)[0]!)));
      for (const { name, codec } of pathsOf(file, {})) {
        const found = new Uint32Array(2 * input.length);
        codec.dequantize(scales, input, found);
        expect({ name, found }).toEqual({ name, found: expected });
      }
    });
  },
);
