/** What a folder feeds to a device: boundary blocks in whole first rows, the family where it is anyway. */
import { describe, expect, test } from 'vitest';
import { defaultFamily } from '../../src/casefolder/folder-inputs.ts';
import { functionByName } from '../../src/functions/registry.ts';
import { twinElement, twinPhilox } from '../random/twin.ts';
import { folderOf, jobOf, manifestOf, rawWords } from './made-folder.ts';

const gauss =
  (fraction: 7 | 23, channels: number, family = 2) =>
  (i: number): number =>
    twinElement({ family, seed: 3n, operand: 0, fraction, channels }, i);
const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('the family', () => {
  test('without boundary cases every element is that of its index [FOL-05, RND-02]', () => {
    const files = folderOf(jobOf({ subject: 'hif4_quantize' }, { shape: [3, 128] }));
    expect(rawWords(files.get('input_x.bin')!, 2)).toEqual(indices(384).map(gauss(7, 128)));
  });

  test('a channel is the position in a row [FOL-05, RND-09]', () => {
    const generator = { family: 'outlier-channel', seed: 3n } as const;
    const shape = [40, 320] as const;
    const files = folderOf(jobOf({ subject: 'mxfp4_quantize_f32' }, { shape, generator }));
    const found = rawWords(files.get('input_x.bin')!, 4);
    expect(found).toEqual(indices(40 * 320).map(gauss(23, 320, 6)));
    // Channels that are multiplied exist among 320, so that the other reading of "channel" would differ.
    expect(found).not.toEqual(indices(40 * 320).map(gauss(23, 32, 6)));
  });

  test('a tensor with a tail counts unpadded elements [FOL-05, FOL-08]', () => {
    const files = folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape: [3, 70] }));
    expect(rawWords(files.get('input_x.bin')!, 2)).toEqual(indices(210).map(gauss(7, 70)));
    expect(manifestOf(files).padding).toEqual({ from: 70, to: 128, word: '0000' });
    expect(manifestOf(files).cases).toBe(6);
  });

  test('inputs that are no floats take low bits of a0, under the family asked for [RND-04]', () => {
    const files = folderOf(jobOf({ subject: 'hif4_dequantize' }, { cases: 5 }));
    const a0 = (i: number): number => Number(twinPhilox(3n, [BigInt(i), 0n, 2n, 16n])[0]!); // gauss, operand 1
    const codes = rawWords(files.get('input_codes.bin')!, 1).flatMap((byte) => [byte % 16, byte >> 4]);
    expect(codes).toEqual(indices(320).map((i) => a0(i) % 16));
  });

  test('where none is asked for: ladder, or bits for inputs that are no floats [FOL-05]', () => {
    expect(defaultFamily(functionByName('hif4_quantize'))).toBe('ladder');
    expect(defaultFamily(functionByName('f32_to_e2m1'))).toBe('ladder');
    expect(defaultFamily(functionByName('mxfp4_dequantize'))).toBe('bits');
    expect(defaultFamily(functionByName('e4m3_to_f32'))).toBe('bits');
  });
});

describe('boundary cases', () => {
  const generator = { family: 'gauss', seed: 3n, boundary: 1 } as const;

  test('they fill whole first rows and move nothing [FOL-06]', () => {
    const shape = [200, 192] as const; // 3 units a row
    const files = folderOf(jobOf({ subject: 'hif4_quantize' }, { shape, generator }));
    const { boundary } = manifestOf(files).generator!;
    const found = rawWords(files.get('input_x.bin')!, 2);
    expect(boundary).toMatchObject({ level: 1, perRow: 3 });
    expect(boundary!.rows).toBe(Math.ceil(boundary!.notes.length / 3));
    expect(boundary!.rows).toBeLessThan(200);
    const from = boundary!.rows * 192;
    expect(found.slice(from)).toEqual(indices(found.length - from).map((i) => gauss(7, 192)(from + i)));
    // The first three blocks, by their notes.
    expect(boundary!.notes.slice(0, 3)).toEqual(['all +0', 'all -0', 'zeros of both signs']);
    expect(found.slice(0, 64)).toEqual(indices(64).map(() => 0));
    expect(found.slice(64, 128)).toEqual(indices(64).map(() => 0x8000));
    expect(found.slice(128, 192)).toEqual(indices(64).map((q) => (q % 3 === 0 ? 0x8000 : 0)));
    // The last row is filled up from the first case on.
    const rest = boundary!.rows * 3 - boundary!.notes.length;
    const last = found.slice(from - 64 * rest, from);
    expect(last).toEqual(found.slice(0, 64 * rest));
  });

  test('a tail stays the family of its row [FOL-06]', () => {
    const shape = [4, 100] as const;
    const files = folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape, generator }));
    const found = rawWords(files.get('input_x.bin')!, 2);
    for (const row of [0, 1, 2, 3]) {
      const tail = found.slice(100 * row + 64, 100 * (row + 1));
      expect(tail).toEqual(indices(36).map((i) => gauss(7, 100)(100 * row + 64 + i)));
    }
    expect(found.slice(100, 164)).toEqual(indices(64).map(() => 0x8000));
  });

  test('a row shorter than a block has none [FOL-06]', () => {
    const shape = [4, 30] as const;
    const files = folderOf(jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape, generator }));
    expect(manifestOf(files).generator!.boundary!.rows).toBe(0);
    expect(rawWords(files.get('input_x.bin')!, 4)).toEqual(indices(120).map(gauss(23, 30)));
  });

  test('without a shape: all of them, 64 more, and 256 at least [FOL-05]', () => {
    const files = folderOf(jobOf({ subject: 'hif4_quantize' }, { generator }));
    const { cases, generator: made } = manifestOf(files);
    expect(cases).toBe(made!.boundary!.notes.length + 64);
    const few = folderOf(jobOf({ subject: 'e2m1_to_f32' }, { generator }));
    expect(manifestOf(few)).toMatchObject({ cases: 256, generator: { boundary: { rows: 16 } } });
    expect(manifestOf(folderOf(jobOf({ subject: 'e2m1_to_f32' }))).cases).toBe(256);
  });

  test('those that nonfinite=error refuses are left out [FOL-06]', () => {
    const request = { subject: 'hif4_quantize', overrides: { nonfinite: 'error' } };
    const notes = manifestOf(folderOf(jobOf(request, { generator }))).generator!.boundary!.notes;
    const all = manifestOf(folderOf(jobOf({ subject: 'hif4_quantize' }, { generator }))).generator!.boundary!
      .notes;
    const nonfinite = all.filter((note) => /NaN|infini/.test(note) && !/finite value$/.test(note));
    expect(nonfinite.length).toBeGreaterThan(8);
    expect(notes).toEqual(all.filter((note) => !/NaN|infini/.test(note)));
  });
});

describe('flags', () => {
  test('of zeros, NaN, infinity, subnormals, scales [FOL-07]', () => {
    const generator = { family: 'gauss', seed: 3n, boundary: 1 } as const;
    const { flags, generator: made } = manifestOf(
      folderOf(jobOf({ subject: 'hif4_quantize' }, { generator })),
    );
    const of = (note: string): number => {
      const at = made!.boundary!.notes.indexOf(note);
      return Number.parseInt(flags.cases.slice(3 * at, 3 * at + 3), 16);
    };
    const [BOUNDARY, NAN, INF, NEGZERO, ALLZERO, SUBNORMAL, SCALENAN, BYTE0] = [
      1, 4, 8, 16, 32, 64, 128, 256,
    ];
    expect(of('all +0')).toBe(BOUNDARY! + ALLZERO! + BYTE0!);
    expect(of('all -0')).toBe(BOUNDARY! + NEGZERO! + ALLZERO! + BYTE0!);
    expect(of('a NaN at element 5')).toBe(BOUNDARY! + NAN! + SCALENAN!);
    expect(of('both infinities')).toBe(BOUNDARY! + INF! + SCALENAN!);
    expect(of('the smallest BF16')).toBe(BOUNDARY! + SUBNORMAL! + BYTE0!);
    expect(of('7 at element 0 among ones')).toBe(BOUNDARY);
    expect(flags.cases.slice(-3)).toBe('000');
  });

  test('a tail is flagged [FOL-07]', () => {
    const { flags } = manifestOf(
      folderOf(jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape: [2, 40] })),
    );
    expect(flags.cases).toBe('000002000002');
  });
});
