/** What a folder expects, against encoders that share no code with the oracle, and bytes worked out by hand. */
import { describe, expect, test } from 'vitest';
import { bf16FromBits, bf16OfF32Bits, bitsOfF32, f32FromBits } from '../independent/platform-floats.ts';
import {
  deviceOutputs,
  folderOf,
  jobOf,
  littleEndian,
  manifestOf,
  nibbles,
  rawWords,
  textOf,
} from './made-folder.ts';

const names = (files: ReadonlyMap<string, unknown>): string[] => [...files.keys()].sort();

describe('functions', () => {
  test.each(['authors', 'ascend'])('hif4_quantize under %s [FOL-03]', (profile) => {
    const job = jobOf({ subject: 'hif4_quantize', profile }, { shape: [20, 256] });
    const files = folderOf(job);
    expect(names(files)).toEqual([
      'check.py',
      'expected_codes.bin',
      'expected_scale.bin',
      'input_x.bin',
      'manifest.json',
      'manifest.schema.json',
    ]);
    const { scales, codes } = deviceOutputs('hif4', files.get('input_x.bin')!, job.policy);
    expect(files.get('expected_scale.bin')).toEqual(littleEndian(scales, 4));
    expect(files.get('expected_codes.bin')).toEqual(nibbles(codes));
    expect(manifestOf(files).files.map(({ name, dtype, shape }) => [name, dtype, shape])).toEqual([
      ['x', 'bf16', [20, 256]],
      ['scale', 'u32', [20, 4]],
      ['codes', 'u4x2', [20, 256]],
    ]);
  });

  test('a scalar of one digit is a u8 [FOL-03]', () => {
    const files = folderOf(jobOf({ subject: 'f32_to_e2m1' }, { cases: 300 }));
    const entry = manifestOf(files).files[1]!;
    expect([entry.name, entry.dtype, entry.shape, entry.digits]).toEqual(['y', 'u8', [300, 1], 1]);
    const x = rawWords(files.get('input_x.bin')!, 4).map(f32FromBits);
    const values = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
    const nearest = x.map((v) => {
      const distances = values.map((value) => Math.abs(Math.abs(v) - value));
      return distances.indexOf(Math.min(...distances)) + (v < 0 ? 8 : 0); // gauss meets no tie
    });
    expect(rawWords(files.get('expected_y.bin')!, 1)).toEqual(nearest);
  });

  test('stages and outputs stand in the order of the encoder [FOL-04, FOL-10]', () => {
    const order = (subject: string): string[] =>
      manifestOf(folderOf(jobOf({ subject }, { cases: 2, stages: true }))).files.map(
        (f) => `${f.role} ${f.name}`,
      );
    expect(order('hif4_quantize')).toEqual([
      ...['input x', 'stage max4', 'stage max8', 'stage max64', 'stage sf', 'stage e6m2', 'stage rcp'],
      ...['stage e1_8', 'stage e1_16', 'expected scale', 'stage scaled', 'expected codes'],
    ]);
    expect(order('mxfp4_quantize')).toEqual([
      ...['input x', 'stage amax', 'stage exponent', 'expected scale', 'stage scaled', 'expected codes'],
    ]);
  });

  test('the maxima of a unit are its maxima [FOL-10]', () => {
    const files = folderOf(jobOf({ subject: 'hif4_quantize' }, { cases: 40, stages: true }));
    const x = rawWords(files.get('input_x.bin')!, 2).map((w) => w % 0x8000);
    const max4 = Array.from({ length: 640 }, (_, k) => Math.max(...x.slice(4 * k, 4 * k + 4)));
    expect(rawWords(files.get('expected_max4.bin')!, 2)).toEqual(max4);
  });
});

describe('tensors', () => {
  test('rows are padded with zeros to whole blocks [FOL-08]', () => {
    const job = jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape: [3, 40] });
    const files = folderOf(job);
    const x = rawWords(files.get('input_x.bin')!, 4);
    const padded = [0, 1, 2].flatMap((r) => [...x.slice(40 * r, 40 * r + 40), ...Array<number>(24).fill(0)]);
    const { scales, codes } = deviceOutputs('mxfp4', littleEndian(padded, 4), job.policy);
    expect(files.get('expected_scales.bin')).toEqual(littleEndian(scales, 1));
    expect(files.get('expected_codes.bin')).toEqual(nibbles(codes));
    expect(manifestOf(files).files.map(({ name, shape }) => [name, shape])).toEqual([
      ['x', [3, 40]],
      ['scales', [3, 2]],
      ['codes', [3, 64]],
    ]);
  });

  test('the elements have the type that is asked for, and are rounded once [FOL-08]', () => {
    const job = jobOf(
      { subject: 'quantize', format: 'hif4', dtype: 'f32' },
      { shape: [4, 64], stages: true },
    );
    const files = folderOf(job);
    const words = rawWords(files.get('input_x.bin')!, 4).map(bf16OfF32Bits);
    const { scales, codes } = deviceOutputs('hif4', littleEndian(words, 2), job.policy);
    expect(files.get('expected_scales.bin')).toEqual(littleEndian(scales, 4));
    expect(files.get('expected_codes.bin')).toEqual(nibbles(codes));
    expect(rawWords(files.get('expected_max64.bin')!, 2)).toEqual(
      [0, 1, 2, 3].map((row) => Math.max(...words.slice(64 * row, 64 * row + 64).map((w) => w % 0x8000))),
    );
  });

  test('high-first exchanges the nibbles and says so [FOL-03, FOL-08, LAY-03]', () => {
    const shape = [2, 64] as const;
    const low = folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape }));
    const high = folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape, layout: 'high-first' }));
    const exchanged = low.get('expected_codes.bin')!.map((byte) => (byte >> 4) + 16 * (byte % 16));
    expect(high.get('expected_codes.bin')).toEqual(exchanged);
    expect(manifestOf(high).files.map(({ order }) => order)).toEqual([
      'row-major',
      'row-major',
      'high-first',
    ]);
  });

  test('scales in tiles come with the place of each byte [FOL-09, LAY-10]', () => {
    const shape = [3, 96] as const; // 3 rows, 3 scales: one row of two cells of 32 bytes
    const linear = folderOf(jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape }));
    const tiled = folderOf(jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape, layout: 'mx-a-zz' }));
    const scales = linear.get('expected_scales.bin')!;
    const expected = Array<number>(64).fill(0);
    const places = Array<number>(64).fill(0xffffffff);
    for (const row of [0, 1, 2]) {
      for (const [block, at] of [2 * row, 2 * row + 1, 32 + 2 * row].entries()) {
        expected[at] = scales[3 * row + block]!;
        places[at] = 3 * row + block;
      }
    }
    expect(rawWords(tiled.get('expected_scales.bin')!, 1)).toEqual(expected);
    expect(rawWords(tiled.get('places_scales.bin')!, 4)).toEqual(places);
    expect(manifestOf(tiled).files[1]).toMatchObject({ shape: [1, 2, 16, 2], places: { shape: [3, 3, 1] } });
  });

  test('units in one piece [FOL-08, LAY-04]', () => {
    const shape = [2, 70] as const;
    const linear = folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape }));
    const units = folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape, layout: 'hif4-unit36' }));
    const [codes, scales] = [linear.get('expected_codes.bin')!, linear.get('expected_scales.bin')!];
    const expected = [0, 1, 2, 3].flatMap((u) => [
      ...codes.slice(32 * u, 32 * u + 32),
      ...scales.slice(4 * u, 4 * u + 4),
    ]);
    expect(rawWords(units.get('expected_units.bin')!, 1)).toEqual(expected);
  });
});

describe('the files of PTO ISA', () => {
  // Two units, both with scale 1 (7 / 7). The first: 7 at 0, 3 at 9 (its octet below 4, its quad above 2), 1 elsewhere.
  const policy = { subject: 'quantize', format: 'hif4', profile: 'ascend' };
  const files = folderOf(
    jobOf(policy, { shape: [1, 2048], names: 'pto', generator: { family: 'gauss', seed: 3n, boundary: 1 } }),
  );
  const notes = manifestOf(files).generator!.boundary!.notes;
  const at = (note: string): number => notes.indexOf(note);

  test('their names and sizes [FOL-11]', () => {
    const sizes = (name: string): number => files.get(name)!.length;
    const total = 2048;
    expect(names(files).filter((name) => name.startsWith('golden') || name.startsWith('input'))).toEqual([
      ...['golden_ea.bin', 'golden_eb.bin', 'golden_ec.bin', 'golden_exp_dst.bin', 'golden_fp4.bin'],
      ...['golden_max4.bin', 'golden_max8.bin', 'golden_scale.bin', 'input1.bin'],
    ]);
    expect(sizes('input1.bin')).toBe(2 * total);
    expect(sizes('golden_max4.bin')).toBe((2 * total) / 4);
    expect(sizes('golden_max8.bin')).toBe((2 * total) / 8);
    expect(sizes('golden_ea.bin')).toBe((2 * total) / 64);
    expect(sizes('golden_eb.bin')).toBe((2 * total) / 64);
    expect(sizes('golden_ec.bin')).toBe(total / 32);
    expect(sizes('golden_exp_dst.bin')).toBe((4 * total) / 64);
    expect(sizes('golden_fp4.bin')).toBe(total / 2);
    expect(sizes('golden_scale.bin')).toBe((2 * total) / 2);
  });

  test('widened as there [FOL-11]', () => {
    // 7 at element 12 among ones: SF = 1, so E6M2 c0; octet 1 reaches 4, quad 3 still reaches 2; ones reach neither.
    const unit = at('7 at element 12 among ones');
    expect(unit).toBeGreaterThanOrEqual(0);
    expect(unit).toBeLessThan(32);
    const word = (name: string): number => rawWords(files.get(name)!, 2)[unit]!;
    expect(word('golden_ea.bin')).toBe(0x00c0);
    expect(word('golden_eb.bin')).toBe(0b1100);
    expect(word('golden_ec.bin')).toBe(0b1000);
    const scale = rawWords(files.get('golden_scale.bin')!, 2).slice(32 * unit, 32 * unit + 32);
    // Reciprocal 1 = 3f80; quad 2 is halved once, quad 3 twice.
    expect(scale).toEqual([
      ...Array(4).fill(0x3f80),
      0x3f00,
      0x3f00,
      0x3e80,
      0x3e80,
      ...Array(24).fill(0x3f80),
    ]);
    const fp4 = [...files.get('golden_fp4.bin')!.slice(32 * unit, 32 * unit + 8)];
    // 1 is code 4; in octet 1 it is halved to 0.5, code 2; in quad 3 it is 0.25, code 1, and 7 / 4 is code 7.
    expect(fp4).toEqual([0x44, 0x44, 0x44, 0x44, 0x22, 0x22, 0x17, 0x11]);
    const cell = 64 * Math.floor(unit / 16);
    const lane = 2 * (unit % 16);
    const exp = files.get('golden_exp_dst.bin')!;
    expect([exp[cell + lane], exp[cell + lane + 1], exp[cell + 32 + lane], exp[cell + 33 + lane]]).toEqual([
      ...[0xc0, 0x02, 0x08, 0x00],
    ]);
  });

  test('a zero unit has the reciprocal of 2^-48, where that generator has 0 [FOL-11, HIF4-14]', () => {
    expect(rawWords(files.get('golden_scale.bin')!, 2)[32 * at('all +0')]).toBe(0x5780); // 2^48
  });

  test('other functions have numbered inputs [FOL-11]', () => {
    const other = folderOf(jobOf({ subject: 'mxfp4_dequantize' }, { cases: 3, names: 'pto' }));
    expect(names(other).slice(1, 4)).toEqual(['golden_y.bin', 'input1.bin', 'input2.bin']);
  });
});

describe('encodings', () => {
  const unit = (encoding: 'npy' | 'text' | 'readmemh' | 'c' | 'raw') =>
    folderOf(jobOf({ subject: 'mxfp4_quantize_f32' }, { cases: 2, encoding }));
  const raw = unit('raw');
  const x = rawWords(raw.get('input_x.bin')!, 4).map((w) => w.toString(16).padStart(8, '0'));
  const codes = rawWords(raw.get('expected_codes.bin')!, 1)
    .flatMap((b) => [b % 16, b >> 4])
    .map((c) => c.toString(16));

  test('text is the words of the stream [FOL-13]', () => {
    const files = unit('text');
    expect(textOf(files, 'input_x.txt')).toBe(`${x.slice(0, 32).join(' ')}\n${x.slice(32).join(' ')}\n`);
    expect(textOf(files, 'expected_codes.txt')).toBe(
      `${codes.slice(0, 32).join('')}\n${codes.slice(32).join('')}\n`,
    );
  });

  test('readmemh has element 0 lowest, and comments with // alone [FOL-14]', () => {
    const files = unit('readmemh');
    const content = textOf(files, 'input_x.mem')
      .split('\n')
      .filter((line) => !line.startsWith('//'));
    expect(content).toEqual([x.slice(0, 32).reverse().join(''), x.slice(32).reverse().join(''), '']);
    expect(textOf(files, 'expected_codes.mem').split('\n')[1]).toBe(codes.slice(0, 32).reverse().join(''));
    for (const name of names(files).filter((n) => /mem|svh/.test(n)))
      expect(textOf(files, name)).not.toMatch(/#/);
    const [, ...svh] = textOf(files, 'x.svh').trim().split('\n');
    expect(svh).toEqual([
      'localparam integer X_BITS = 32;',
      'localparam integer X_COUNT = 32;',
      'localparam integer X_WIDTH = 1024;',
      'localparam integer X_DEPTH = 2;',
    ]);
    expect(textOf(files, 'flags.mem').split('\n').slice(1)).toEqual(['000', '000', '']);
  });

  test('npy has the bits of bf16 as u2 and codes two a byte [FOL-12]', () => {
    const files = unit('npy');
    const header = (name: string): string => textOf(files, name).split('\n')[0]!;
    expect(header('input_x.npy')).toContain("'descr': '<f4', 'fortran_order': False, 'shape': (2, 32)");
    expect(header('expected_codes.npy')).toContain(
      "'descr': '|u1', 'fortran_order': False, 'shape': (2, 16)",
    );
    expect(files.get('expected_codes.npy')!.slice(-32)).toEqual(raw.get('expected_codes.bin'));
    const bf16 = folderOf(jobOf({ subject: 'mxfp4_quantize' }, { cases: 2, encoding: 'npy' }));
    expect(textOf(bf16, 'input_x.npy').split('\n')[0]).toContain("'descr': '<u2'");
  });

  test('c has raw files too [FOL-12, FOL-15]', () => {
    const files = unit('c');
    expect(files.get('expected_codes.bin')).toEqual(raw.get('expected_codes.bin'));
    expect(textOf(files, 'cases.h')).toContain(`0x${x[0]}u, 0x${x[1]}u`);
  });

  test('a value of BF16 and its number are the same everywhere [FOL-03]', () => {
    const files = folderOf(jobOf({ subject: 'bf16_to_f32' }, { cases: 50 }));
    const numbers = rawWords(files.get('input_x.bin')!, 2).map(bf16FromBits);
    expect(rawWords(files.get('expected_y.bin')!, 4)).toEqual(numbers.map(bitsOfF32));
  });

  test('the same job gives the same bytes [FOL-01]', () => {
    expect(unit('readmemh')).toEqual(unit('readmemh'));
  });
});
