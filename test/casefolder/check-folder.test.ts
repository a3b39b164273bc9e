/** A folder judged by the oracle: right devices pass, every wrong bit is found and placed, every lie is refused. */
import { describe, expect, test } from 'vitest';
import type { FolderDifference } from '../../src/casefolder/check-compare.ts';
import { verifyFolder } from '../../src/casefolder/check-folder.ts';
import { digestOf } from '../../src/casefolder/manifest.ts';
import { Fp4Error } from '../../src/error.ts';
import {
  type Files,
  folderOf,
  jobOf,
  littleEndian,
  manifestOf,
  rawWords,
  sha256,
  textOf,
  withDevice,
} from './made-folder.ts';

const job = jobOf({ subject: 'hif4_quantize', profile: 'ascend' }, { cases: 12, stages: true });
const folder = folderOf(job);
const good = withDevice(folder, 'hif4', job.policy);

interface Judged {
  told: FolderDifference[];
  first: FolderDifference | undefined;
  wrong: Record<string, number | undefined>;
}

function judge(files: Files): Judged {
  const told: FolderDifference[] = [];
  const verdict = verifyFolder(
    textOf(files, 'manifest.json'),
    (name) => files.get(name),
    sha256,
    (d) => told.push(d),
  );
  const wrong = Object.fromEntries(verdict.files.map((f) => [f.name, f.wrong]));
  return { told, first: verdict.first, wrong };
}

/** The message with which a folder is refused. */
function refusal(files: Files): string {
  try {
    judge(files);
  } catch (error) {
    if (error instanceof Fp4Error) return error.message;
    throw error;
  }
  return 'not refused';
}

const withBytes = (files: Files, name: string, change: (bytes: Uint8Array) => void): Files => {
  const bytes = files.get(name)!.slice();
  change(bytes);
  return new Map(files).set(name, bytes);
};

type Json = Record<string, unknown>;

/** The folder with members of its manifest set (undefined removes one), and the digest right again. */
function withManifest(files: Files, changes: Readonly<Record<string, unknown>>): Files {
  const manifest: Json = JSON.parse(textOf(files, 'manifest.json'));
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.');
    const last = keys.pop()!;
    const holder = keys.reduce((inner, key) => inner[key] as Json, manifest);
    if (value !== undefined) holder[last] = value;
    else if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else delete holder[last];
  }
  manifest['digest'] = digestOf(manifest, sha256);
  return new Map(files).set('manifest.json', Buffer.from(JSON.stringify(manifest)));
}

describe('a device', () => {
  test('that is right passes, without stages and with them [FOL-10, FOL-17]', () => {
    expect(judge(good).told).toEqual([]);
    expect(judge(good).wrong).toMatchObject({ scale: 0, codes: 0, max4: undefined });
    const stage = new Map(good).set('actual_e6m2.bin', folder.get('expected_e6m2.bin')!);
    expect(judge(stage).wrong).toMatchObject({ e6m2: 0, sf: undefined });
  });

  test('one code is found and placed [FOL-19]', () => {
    const at = 64 * 7 + 21;
    const expected = (good.get('actual_codes.bin')![(at - 1) / 2]! >> 4).toString(16);
    const found = (Number.parseInt(expected, 16) ^ 2).toString(16);
    const wrong = withBytes(good, 'actual_codes.bin', (b) => {
      b[(at - 1) / 2]! ^= 0x20;
    });
    const difference = { name: 'codes', place: 'case 7, element 21', expected, found };
    expect(judge(wrong).told).toEqual([difference]);
    expect(judge(wrong).first).toEqual(difference);
  });

  test('one bit of a scale word is found and placed [FOL-19]', () => {
    const wrong = withBytes(good, 'actual_scale.bin', (b) => {
      b[4 * 5 + 2]! ^= 0x10; // E1_16, bit 4: bit 20 of the word
    });
    const word = rawWords(good.get('actual_scale.bin')!, 4)[5]!;
    const hex = (w: number): string => w.toString(16).padStart(8, '0');
    const found = hex((word ^ 0x00100000) >>> 0);
    expect(judge(wrong).told).toEqual([
      { name: 'scale', place: 'case 5, element 0', expected: hex(word), found },
    ]);
  });

  test('one nibble order is found, a line a block [FOL-19]', () => {
    const wrong = withBytes(good, 'actual_codes.bin', (b) => {
      for (const [i, byte] of b.entries()) b[i] = (byte >> 4) + 16 * (byte % 16);
    });
    const { told, wrong: counts } = judge(wrong);
    expect(told.map(({ place }) => place.split(',')[0])).toEqual(
      Array.from({ length: 12 }, (_, c) => `case ${c}`),
    );
    const codes = rawWords(good.get('actual_codes.bin')!, 1);
    expect(counts['codes']).toBe(2 * codes.filter((byte) => byte >> 4 !== byte % 16).length);
  });

  test('the first wrong stage is the earliest of the encoder, not of the alphabet [FOL-04, FOL-19]', () => {
    const stages = new Map(good);
    for (const name of ['sf', 'e6m2', 'codes'])
      stages.set(`actual_${name}.bin`, folder.get(`expected_${name}.bin`)!);
    let wrong = withBytes(stages, 'actual_codes.bin', (b) => b.fill(0));
    wrong = withBytes(wrong, 'actual_e6m2.bin', (b) => b.fill(1, 3, 5));
    wrong = withBytes(wrong, 'actual_sf.bin', (b) => b.fill(0, 12, 14));
    expect(judge(wrong).first).toMatchObject({ name: 'sf', place: 'case 6, element 0', found: '0000' });
  });

  test('rows and blocks of a tensor are named [FOL-19]', () => {
    const tensor = jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape: [3, 96] });
    const files = withDevice(folderOf(tensor), 'mxfp4', tensor.policy, 'scales');
    expect(judge(files).told).toEqual([]);
    const wrong = withBytes(files, 'actual_codes.bin', (b) => {
      b[48 + 16 + 3]! ^= 1; // row 1 has 48 bytes; its block 1 starts at 16
    });
    expect(judge(wrong).told).toMatchObject([{ name: 'codes', place: 'row 1, block 1, element 6' }]);
  });

  test('padding of tiles may hold anything; a byte that counts is placed in its block [FOL-09]', () => {
    const tensor = jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape: [3, 96], layout: 'nv-128x4' });
    const files = folderOf(tensor);
    for (const name of ['codes', 'scales'])
      files.set(`actual_${name}.bin`, files.get(`expected_${name}.bin`)!);
    const padded = withBytes(files, 'actual_scales.bin', (b) => {
      b[3] = 0xff; // the fourth scale of row 0
      b[16 * 3] = 0xff; // row 3
      b[511] = 0xff;
    });
    expect(judge(padded).told).toEqual([]);
    const wrong = withBytes(files, 'actual_scales.bin', (b) => {
      b[16 * 2 + 1]! ^= 1; // row 2, scale 1
    });
    expect(judge(wrong).told).toMatchObject([{ name: 'scales', place: 'row 2, block 1, element 0' }]);
  });

  test.each(['npy', 'text', 'readmemh', 'c'] as const)(
    'a device may write %s, or headerless [FOL-12]',
    (encoding) => {
      const files = folderOf(jobOf({ subject: 'hif4_quantize', profile: 'ascend' }, { cases: 12, encoding }));
      const ending = { npy: 'npy', text: 'txt', readmemh: 'mem', c: 'bin' }[encoding];
      const own = new Map(files);
      for (const name of ['scale', 'codes'])
        own.set(`actual_${name}.${ending}`, files.get(`expected_${name}.${ending}`)!);
      expect(judge(own).told).toEqual([]);
      const mixed = new Map(own).set('actual_codes.bin', good.get('actual_codes.bin')!);
      if (encoding !== 'c') expect(refusal(mixed)).toMatch(/only one of them/);
      mixed.delete(`actual_codes.${ending}`);
      mixed.set('actual_codes.bin', good.get('actual_codes.bin')!);
      expect(judge(mixed).told).toEqual([]);
    },
  );
});

describe('NaN', () => {
  const actualOf = (files: Files, words: number[], size: 1 | 2 | 4): Files =>
    new Map(files).set('actual_y.bin', littleEndian(words, size));

  test('every NaN of FP32 is one, unless payloads count [FOL-17, CON-03]', () => {
    const make = (overrides: Record<string, string>): Files =>
      folderOf(
        jobOf(
          { subject: 'bf16_to_f32', overrides },
          { cases: 400, generator: { family: 'bits-any', seed: 1n } },
        ),
      );
    for (const [overrides, differs] of [
      [{}, false],
      [{ nan: 'payload' }, true],
    ] as const) {
      const files = make(overrides);
      const words = rawWords(files.get('expected_y.bin')!, 4);
      const at = words.findIndex((w) => (w & 0x7fffffff) > 0x7f800000);
      expect(at).toBeGreaterThanOrEqual(0);
      const other = actualOf(files, words.with(at, 0xffabcdef), 4);
      expect(judge(other).told.length).toBe(differs ? 1 : 0);
      const infinite = actualOf(files, words.with(at, 0x7f800000), 4);
      expect(judge(infinite).told).toMatchObject([{ place: `case ${at}, element 0`, found: '7f800000' }]);
    }
  });

  test('both NaNs of E4M3 are one; a number is none [FOL-17]', () => {
    const generator = { family: 'bits-any', seed: 1n } as const;
    const files = folderOf(jobOf({ subject: 'bf16_to_e4m3' }, { cases: 400, generator }));
    expect(manifestOf(files).files[1]!.nans).toEqual([0x7f, 0xff]);
    const words = rawWords(files.get('expected_y.bin')!, 1);
    const at = words.indexOf(0x7f);
    expect(judge(actualOf(files, words.with(at, 0xff), 1)).told).toEqual([]);
    expect(judge(actualOf(files, words.with(at, 0x7e), 1)).told.length).toBe(1);
  });
});

describe('what is refused', () => {
  test('a missing, short or too long file [FOL-18]', () => {
    const without = new Map(good);
    without.delete('actual_codes.bin');
    expect(refusal(without)).toBe('actual_codes.bin: missing');
    for (const [length, what] of [
      [383, 'short: 383 bytes; expected 384'],
      [0, 'short: 0 bytes; expected 384'],
      [385, 'too long: 385 bytes; expected 384'],
    ] as const) {
      expect(refusal(new Map(good).set('actual_codes.bin', new Uint8Array(length)))).toContain(what);
    }
    expect(refusal(new Map(good).set('actual_sf.bin', new Uint8Array(23)))).toContain('actual_sf.bin: short');
    for (const name of ['input_x.bin', 'expected_codes.bin', 'expected_sf.bin']) {
      const less = new Map(good);
      less.delete(name);
      expect(refusal(less)).toContain(`${name}: missing`);
    }
  });

  test('an expectation that was changed [FOL-18, FOL-20]', () => {
    const changed = withBytes(good, 'expected_codes.bin', (b) => {
      b[9]! ^= 1;
    });
    expect(refusal(changed)).toContain('expected_codes.bin: sha256 is');
    const hashed = withManifest(changed, { 'files.11.sha256': sha256(changed.get('expected_codes.bin')!) });
    expect(refusal(hashed)).toBe('expected_codes.bin: byte 9 is not what the oracle makes of the inputs');
  });

  test('inputs that are not those of the generator; without one they are its own [FOL-20]', () => {
    const own = withBytes(folder, 'input_x.bin', (b) => {
      b[1]! ^= 0x01;
    });
    const rehash = (files: Files, generator: boolean): Files =>
      withManifest(files, {
        'files.0.sha256': sha256(files.get('input_x.bin')!),
        ...(generator ? {} : { generator: null }),
      });
    expect(refusal(rehash(own, true))).toContain('input_x.bin: element 0 is not what the generator');
    // Its expected files are those of the old inputs now.
    expect(refusal(rehash(own, false))).toMatch(/is not what the oracle makes of the inputs/);
    expect(refusal(rehash(good, false))).toBe('not refused');
  });

  test.each([
    ['no JSON', '{', /manifest.json: character/],
    ['nothing', '', /manifest.json: character/],
    ['another thing', '[]', /is \[\]; expected an object/],
    ['a name twice', '{"schema": "fp4-case-folder/1", "schema": "x"}', /occurs twice/],
    ['another version', '{"schema": "fp4-case-folder/2"}', /schema is "fp4-case-folder\/2"/],
    ['no digest', '{"schema": "fp4-case-folder/1"}', /digest is nothing/],
    ['a deep one', '['.repeat(1e5), /nested/],
  ])('%s [FOL-16, FOL-20]', (_, text, message) => {
    expect(refusal(new Map(good).set('manifest.json', Buffer.from(text)))).toMatch(message);
  });

  test('a change without a new digest [FOL-16]', () => {
    const text = textOf(good, 'manifest.json').replace('"profile": "ascend"', '"profile": "authors"');
    expect(refusal(new Map(good).set('manifest.json', Buffer.from(text)))).toContain('it was changed');
  });

  test.each([
    ['a path', 'files.2.file', '../expected_max4.bin', /files\[2\].file is "..\/expected_max4.bin"/],
    ['an absolute path', 'files.0.file', '/etc/passwd', /files\[0\].file is "\/etc\/passwd"/],
    ['another actual', 'files.1.actual', 'expected_max4.bin', /files\[1\].actual/],
    ['a role', 'files.11.role', 'stage', /files\[11\].role is "stage"/],
    ['an entry less', 'files.11', undefined, /files has 11 items; expected 12/],
    ['a shape beyond numbers', 'files.0.shape', [2 ** 53, 2 ** 53], /files\[0\].shape\[0\]/],
    ['cases beyond memory', 'cases', 2 ** 26, /expected from 1 to/],
    ['cases beyond the file', 'cases', 5000, /input_x.bin: short: 1536 bytes/],
    ['negative cases', 'cases', -1, /cases is -1; expected an integer/],
    ['half a case', 'cases', 0.5, /0\.5 is not written as an integer/],
    ['a shape', 'shape', [6, 128], /files\[0\].shape\[0\] is 12; expected 6/],
    ['a profile', 'profile', 'nobody', /unknown profile "nobody"/],
    ['a parameter', 'parameters.ties', 'away', /is not what the oracle makes of the inputs/],
    ['a parameter less', 'parameters.ties', undefined, /parameters lacks "ties"/],
    ['a parameter more', 'parameters.colour', 'red', /unknown parameter "colour"/],
    ['the seed', 'generator.seed', '4', /not what the generator/],
    ['a seed of 65 bits', 'generator.seed', '18446744073709551616', /generator.seed/],
    ['a range for another family', 'generator.range', [0, 1], /generator.range is \[0,1\]; expected null/],
    ['the nan rule', 'nan', 'bits', /nan is "bits"; expected "any"/],
    ['the stages', 'stages', false, /files has 12 items; expected 3/],
    ['a flag', 'flags.cases', `1${'0'.repeat(35)}`, /flags.cases/],
    ['a member more', 'accept', 'all', /accept does not belong there/],
    ['the encoding', 'encoding', 'npy', /input_x.npy: missing/],
    ['a companion', 'companions.0', { file: 'check.py', sha256: '' }, /companions has 1 items/],
    ['a hash that is none', 'files.11.sha256', {}, /manifest.json says {}/],
    ['compare', 'files.11.compare', 'bound', /compare is "bound"/],
  ])('%s, with its digest right [FOL-20]', (_, path, value, message) => {
    expect(refusal(withManifest(good, { [path]: value }))).toMatch(message);
  });

  test('a comment is free [FOL-02]', () => {
    expect(refusal(withManifest(good, { comment: 'on the second board' }))).toBe('not refused');
    expect(refusal(withManifest(good, { comment: 3 }))).toContain('comment is 3');
  });

  test('text and memory files that are not what they should be [FOL-13, FOL-14, FOL-18]', () => {
    const text = folderOf(jobOf({ subject: 'e4m3_to_f32' }, { cases: 3, encoding: 'text' }));
    const actual = (bytes: string): string => refusal(new Map(text).set('actual_y.txt', Buffer.from(bytes)));
    const lines = textOf(text, 'expected_y.txt').trim().split('\n');
    expect(actual(`# mine\r\n${lines.join('\r\n')}\r\n`.toUpperCase())).toBe('not refused');
    expect(actual(lines.slice(1).join('\n'))).toBe('actual_y.txt: 2 lines; expected 3');
    expect(actual([...lines, lines[0]].join('\n'))).toBe('actual_y.txt: more than 3 lines');
    expect(actual(lines.map((l) => l.slice(1)).join('\n'))).toContain('line 1: "');
    expect(actual(lines.join('\n').replace(/^./, 'x'))).toContain('expected 8 hex digits');
    const mem = folderOf(jobOf({ subject: 'e4m3_to_f32' }, { cases: 1, encoding: 'readmemh' }));
    const word = textOf(mem, 'expected_y.mem').split('\n')[1]!;
    const memory = (bytes: string): string => refusal(new Map(mem).set('actual_y.mem', Buffer.from(bytes)));
    expect(memory(`// 0x00000000\n${word.slice(0, 4)}_${word.slice(4)} // one\n`)).toBe('not refused');
    expect(memory('xxxxxxxx\n')).toContain('expected 8 hex digits');
  });
});
