/** check.py as a device's owner runs it: a folder, Python and NumPy. The device is NumPy or the tests' own encoder. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CHECK_PY } from '../../src/casefolder/check-py.ts';
import { buildGemmFolder, type GemmFolderJob } from '../../src/casefolder/gemm-folder.ts';
import { digestOf } from '../../src/casefolder/manifest.ts';
import { codec } from '../../src/tensor/codec.ts';
import { bundle } from '../bundle/build.ts';
import {
  type Files,
  folderOf,
  jobOf,
  littleEndian,
  rawWords,
  sha256,
  textOf,
  withDevice,
} from '../casefolder/made-folder.ts';
import { type PythonRun, python } from './python.ts';

const root = mkdtempSync(join(tmpdir(), 'fp4-check-'));
afterAll(() => rmSync(root, { recursive: true }));

function written(files: Files): string {
  const folder = mkdtempSync(join(root, 'case-'));
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  return folder;
}

const check = (files: Files, ...more: string[]): PythonRun => python(['check.py', ...more], written(files));

const withBytes = (files: Files, name: string, change: (bytes: Uint8Array) => void): Files => {
  const bytes = files.get(name)!.slice();
  change(bytes);
  return new Map(files).set(name, bytes);
};

const job = jobOf({ subject: 'hif4_quantize', profile: 'ascend' }, { cases: 12, stages: true });
const folder = folderOf(job);
const good = withDevice(folder, 'hif4', job.policy);

describe('the file', () => {
  test('has fewer than 300 lines and the syntax of Python 3.8, and imports NumPy alone [FOL-18]', () => {
    expect(CHECK_PY.trimEnd().split('\n').length).toBeLessThan(300);
    const script = [
      'import ast, sys',
      'tree = ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))',
      'names = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}',
      'names |= {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}',
      'print(" ".join(sorted(names)))',
    ].join('\n');
    const { code, out } = python(['-c', script, join(written(folder), 'check.py')]);
    expect([code, out.trim()]).toEqual([0, 'argparse hashlib io json numpy os re sys xml']);
  });

  test('knows no format: no table of codes, no scale [FOL-18]', () => {
    expect(CHECK_PY).not.toMatch(/e2m1|e1m2|e6m2|e8m0|hif4|mxfp4|0\.25|1\.75/i);
  });
});

describe('a device', () => {
  test('that is right passes [FOL-18]', () => {
    const { code, out, err } = check(good);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('passed  codes: 768 elements');
    expect(out).toContain('skipped e6m2: no actual_e6m2.bin');
  });

  test('written by NumPy code in another language passes [FOL-18]', () => {
    const files = folderOf(
      jobOf({ subject: 'bf16_to_f32' }, { cases: 300, generator: { family: 'bits-any', seed: 9n } }),
    );
    const device = [
      'import numpy as np, sys',
      'x = np.fromfile(sys.argv[1] + "/input_x.bin", dtype="<u2").astype("<u4")',
      '(x << 16).astype("<u4").tofile(sys.argv[1] + "/actual_y.bin")',
    ].join('\n');
    const place = written(files);
    expect(python(['-c', device, place]).code).toBe(0);
    expect(python(['check.py'], place)).toMatchObject({ code: 0, err: '' });
  });

  test('one code, one scale bit, one nibble order: each is found and placed [FOL-18]', () => {
    const code = check(
      withBytes(good, 'actual_codes.bin', (b) => {
        b[32 * 7 + 10]! ^= 0x20; // case 7, elements 20 and 21
      }),
    );
    const was = good.get('actual_codes.bin')![32 * 7 + 10]! >> 4;
    const words = `expected ${was.toString(16)}, found ${(was ^ 2).toString(16)}`;
    expect(code.code).toBe(1);
    expect(code.out).toContain(
      `first wrong: codes: 1 of 768 elements differ; first at case 7, element 21: ${words}`,
    );
    const scale = check(
      withBytes(good, 'actual_scale.bin', (b) => {
        b[4 * 5 + 2]! ^= 0x10;
      }),
    );
    const word = rawWords(good.get('actual_scale.bin')!, 4)[5]!;
    const hex = (w: number): string => (w >>> 0).toString(16).padStart(8, '0');
    const bit = `case 5, element 0: expected ${hex(word)}, found ${hex(word ^ 0x00100000)}`;
    expect([
      scale.code,
      scale.out.includes(`first wrong: scale: 1 of 12 elements differ; first at ${bit}`),
    ]).toEqual([1, true]);
    const order = check(
      withBytes(good, 'actual_codes.bin', (b) => {
        for (const [i, byte] of b.entries()) b[i] = (byte >> 4) + 16 * (byte % 16);
      }),
    );
    const bytes = [...good.get('actual_codes.bin')!];
    const at = bytes.findIndex((byte) => byte >> 4 !== byte % 16);
    const count = 2 * bytes.filter((byte) => byte >> 4 !== byte % 16).length;
    const place = `case ${Math.floor(at / 32)}, element ${2 * (at % 32)}`;
    expect(order.out).toContain(`codes: ${count} of 768 elements differ; first at ${place}`);
  });

  test('the first wrong stage is the encoder’s first [FOL-04, FOL-18]', () => {
    const stages = new Map(good);
    for (const name of ['e6m2', 'e1_8'])
      stages.set(`actual_${name}.bin`, folder.get(`expected_${name}.bin`)!);
    const wrong = withBytes(
      withBytes(stages, 'actual_codes.bin', (b) => b.fill(0)),
      'actual_e1_8.bin',
      (b) => {
        b[3]! ^= 0x80;
      },
    );
    const { code, out } = check(wrong);
    expect(code).toBe(1);
    expect(out).toMatch(/^first wrong: e1_8: 1 of 12 elements differ; first at case 3, element 0/m);
    expect(out).toMatch(/^passed {2}e6m2/m);
  });

  test('a boundary case is told with its note, a block with its row [FOL-06, FOL-18]', () => {
    const generator = { family: 'gauss', seed: 1n, boundary: 1 } as const;
    const tensor = folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape: [2, 128], generator }));
    for (const name of ['scales', 'codes'])
      tensor.set(`actual_${name}.bin`, tensor.get(`expected_${name}.bin`)!);
    const { out } = check(
      withBytes(tensor, 'actual_codes.bin', (b) => {
        b[64 + 32 + 1]! ^= 1;
      }),
    );
    expect(out).toContain('row 1, block 1, element 2 (-0 beside 1): expected');
  });

  test('padding of tiles may hold anything [FOL-09]', () => {
    const tensor = folderOf(
      jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape: [3, 96], layout: 'nv-128x4' }),
    );
    for (const name of ['scales', 'codes'])
      tensor.set(`actual_${name}.bin`, tensor.get(`expected_${name}.bin`)!);
    const padded = withBytes(tensor, 'actual_scales.bin', (b) => b.fill(0xff, 48));
    expect(check(padded).code).toBe(0);
    const wrong = check(
      withBytes(padded, 'actual_scales.bin', (b) => {
        b[16 * 2 + 1]! ^= 1;
      }),
    );
    expect([wrong.code, wrong.out.includes('row 2, block 1, element 0: expected')]).toEqual([1, true]);
  });

  test.each(['npy', 'text', 'readmemh', 'c'] as const)('may write %s, or headerless [FOL-12]', (encoding) => {
    const files = folderOf(jobOf({ subject: 'hif4_quantize', profile: 'ascend' }, { cases: 12, encoding }));
    const ending = { npy: 'npy', text: 'txt', readmemh: 'mem', c: 'bin' }[encoding];
    const own = new Map(files);
    for (const name of ['scale', 'codes'])
      own.set(`actual_${name}.${ending}`, files.get(`expected_${name}.${ending}`)!);
    expect(check(own)).toMatchObject({ code: 0, err: '' });
    const raw = new Map(files);
    for (const name of ['scale', 'codes']) raw.set(`actual_${name}.bin`, good.get(`actual_${name}.bin`)!);
    expect(check(raw)).toMatchObject({ code: 0, err: '' });
    const wrong = check(withBytes(raw, 'actual_codes.bin', (b) => b.set([b[0]! ^ 0x10])));
    expect([wrong.code, wrong.out.includes('case 0, element 1: expected')]).toEqual([1, true]);
  });

  test('NaNs are equal as the manifest says [FOL-17]', () => {
    const generator = { family: 'bits-any', seed: 1n } as const;
    for (const [nan, code] of [
      ['canonical', 0],
      ['payload', 1],
    ] as const) {
      const files = folderOf(
        jobOf({ subject: 'bf16_to_f32', overrides: { nan } }, { cases: 400, generator }),
      );
      const words = rawWords(files.get('expected_y.bin')!, 4);
      const at = words.findIndex((w) => (w & 0x7fffffff) > 0x7f800000);
      expect(check(files.set('actual_y.bin', littleEndian(words.with(at, 0xffabcdef), 4))).code).toBe(code);
    }
    const e4m3 = folderOf(jobOf({ subject: 'bf16_to_e4m3' }, { cases: 400, generator }));
    const codes = rawWords(e4m3.get('expected_y.bin')!, 1);
    const at = codes.indexOf(0x7f);
    expect(check(e4m3.set('actual_y.bin', littleEndian(codes.with(at, 0xff), 1))).code).toBe(0);
    expect(check(e4m3.set('actual_y.bin', littleEndian(codes.with(at, 0x7e), 1))).code).toBe(1);
  });
});

test('from an empty folder with the bundle, Python and NumPy alone [FOL-01, FOL-18]', async () => {
  const file = await bundle();
  const place = mkdtempSync(join(root, 'empty-'));
  const export_ = [
    file,
    'export',
    'mxfp4_quantize_f32',
    '-o',
    'case',
    '--no-boundary',
    '--family',
    'gauss',
    '-n',
    '300',
  ];
  expect(spawnSync(process.execPath, export_, { cwd: place }).status).toBe(0);
  // MXFP4 by OCP's text, in NumPy: gauss has neither zeros alone nor anything that is not finite.
  const device = `
import numpy as np
x = np.fromfile("case/input_x.bin", dtype="<f4").reshape(-1, 32)
exponent = np.frexp(np.abs(x).max(axis=1).astype(np.float64))[1] - 1 - 2
magnitude = np.abs(x).astype(np.float64) / np.exp2(exponent)[:, None]
values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
distance = np.abs(magnitude[:, :, None] - values)
nearest = distance.min(axis=2, keepdims=True)
even = np.where(np.arange(8) % 2 == 0, 0, 1)
codes = np.argmin(np.where(distance == nearest, even, 2), axis=2) + 8 * np.signbit(x)
(exponent + 127).astype(np.uint8).tofile("case/actual_scale.bin")
codes = codes.astype(np.uint8).reshape(-1)
(codes[0::2] | codes[1::2] << 4).tofile("case/actual_codes.bin")
`;
  expect(python(['-c', device], place)).toMatchObject({ code: 0, err: '' });
  expect(python([join('case', 'check.py')], place)).toMatchObject({ code: 0, err: '' });
  const verify = spawnSync(process.execPath, [file, 'verify', '--dir', 'case'], { cwd: place });
  expect(verify.status).toBe(0);
});

test('a JUnit report [FOL-18]', () => {
  const place = written(withBytes(good, 'actual_codes.bin', (b) => b.set([b[0]! ^ 1])));
  expect(python(['check.py', '--junit', 'report.xml'], place).code).toBe(1);
  const script = [
    'import sys, xml.etree.ElementTree as ET',
    'suite = ET.parse(sys.argv[1]).getroot()',
    'print(suite.attrib["name"], suite.attrib["tests"], suite.attrib["failures"], suite.attrib["skipped"])',
    'print(",".join(c.attrib["name"] for c in suite if c.find("failure") is not None))',
  ].join('\n');
  const { out } = python(['-c', script, join(place, 'report.xml')]);
  expect(out).toBe('hif4_quantize 11 1 9\ncodes\n');
});

/** The folder with bounds in place of an expected y. */
function withBounds(dtype: 'f32' | 'bf16' | 'f16', low: number[], high: number[]): Files {
  const size = dtype === 'f32' ? 4 : 2;
  const files = folderOf(jobOf({ subject: 'bf16_to_f32' }, { cases: low.length }));
  const bounds = { low: littleEndian(low, size), high: littleEndian(high, size) };
  const manifest = JSON.parse(textOf(files, 'manifest.json'));
  Object.assign(manifest.files[1], {
    ...{ dtype, digits: 2 * size, compare: 'bound', file: 'expected_y_low.bin', sha256: sha256(bounds.low) },
    ...{ high: 'expected_y_high.bin', highSha256: sha256(bounds.high) },
  });
  manifest.digest = digestOf(manifest, sha256);
  return new Map(files)
    .set('manifest.json', Buffer.from(JSON.stringify(manifest)))
    .set('expected_y_low.bin', bounds.low)
    .set('expected_y_high.bin', bounds.high);
}

describe('bounds', () => {
  // [1, 1.5], [-1.5, -1], [-0, +0], [NaN, NaN], [2, inf]
  const f32: readonly [readonly number[], readonly number[]] = [
    [0x3f800000, 0xbfc00000, 0x80000000, 0x7fc00000, 0x40000000],
    [0x3fc00000, 0xbf800000, 0x00000000, 0x7fc00000, 0x7f800000],
  ];
  const judged = (words: readonly number[]): PythonRun =>
    check(withBounds('f32', [...f32[0]], [...f32[1]]).set('actual_y.bin', littleEndian(words, 4)));

  test('hold their ends, zeros of both signs, and NaN for NaN [FOL-17]', () => {
    expect(judged(f32[0]).code).toBe(0);
    expect(judged([0x3fc00000, 0xbf800000, 0x80000000, 0xffc00001, 0x7f800000]).code).toBe(0);
    expect(judged([0x3fa00000, 0xbfa00000, 0x00000000, 0x7fc00000, 0x7f7fffff]).code).toBe(0);
  });

  test.each([
    [0, 0x3f7fffff],
    [0, 0x3fc00001],
    [0, 0x7fc00000],
    [1, 0xbfc00001],
    [1, 0x3fa00000],
    [2, 0x00000001],
    [3, 0x3f800000],
    [4, 0xff800000],
  ])('element %i: %i lies outside [FOL-17]', (element, word) => {
    const { code, out } = judged([...f32[0]].with(element, word));
    const bounds = [f32[0][element]!, f32[1][element]!]
      .map((w) => w.toString(16).padStart(8, '0'))
      .join(' to ');
    const found = word.toString(16).padStart(8, '0');
    expect(code).toBe(1);
    expect(out).toContain(`case ${element}, element 0: expected ${bounds}, found ${found}`);
  });

  test.each([
    ['bf16', 0x3f80, 0x3fc0, 0x3fc1],
    ['f16', 0x3c00, 0x3e00, 0x3e01],
  ] as const)('in %s [FOL-17]', (dtype, low, high, beyond) => {
    const files = withBounds(dtype, [low], [high]);
    expect(check(files.set('actual_y.bin', littleEndian([high], 2))).code).toBe(0);
    expect(check(files.set('actual_y.bin', littleEndian([beyond], 2))).code).toBe(1);
  });

  test('whose files were changed are refused [FOL-18]', () => {
    const files = withBounds('f32', [0], [0]).set('actual_y.bin', new Uint8Array(4));
    expect(check(files).code).toBe(0);
    expect(check(files.set('expected_y_high.bin', Uint8Array.of(0, 0, 0, 1))).code).toBe(2);
  });
});

describe('what cannot be judged', () => {
  const refused = ({ code, out, err }: PythonRun, message: string): void => {
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`check.py: ${message}`);
    expect(err).not.toContain('Traceback');
    expect(err.trim().split('\n').length).toBe(1);
  };
  const without = (name: string): Files => {
    const files = new Map(good);
    files.delete(name);
    return files;
  };

  test('a missing, short or too long file [FOL-18]', () => {
    refused(check(without('actual_codes.bin')), 'actual_codes.bin: missing');
    refused(check(without('expected_sf.bin')), 'expected_sf.bin: missing');
    refused(check(without('manifest.json')), 'manifest.json: missing');
    const codes = (length: number): PythonRun =>
      check(new Map(good).set('actual_codes.bin', new Uint8Array(length)));
    refused(codes(383), 'actual_codes.bin: short: 383 bytes; expected 384');
    refused(codes(385), 'actual_codes.bin: too long: 385 bytes; expected 384');
    refused(check(new Map(good).set('actual_sf.bin', new Uint8Array(0))), 'actual_sf.bin: short: 0 bytes');
  });

  test('a wrong checksum, a changed manifest [FOL-16, FOL-18]', () => {
    const flip = (b: Uint8Array): void => {
      b[9]! ^= 1;
    };
    refused(check(withBytes(good, 'expected_codes.bin', flip)), 'expected_codes.bin: sha256 is');
    refused(check(withBytes(good, 'input_x.bin', flip)), 'input_x.bin: sha256 is');
    const manifest = textOf(good, 'manifest.json').replace('"compare":"bits"', '"compare":"bound"');
    refused(check(new Map(good).set('manifest.json', Buffer.from(manifest))), 'manifest.json: changed');
    refused(check(new Map(good).set('manifest.json', Buffer.from('{'))), 'manifest.json: no JSON');
    refused(
      check(new Map(good).set('manifest.json', Buffer.from('['.repeat(1e5)))),
      'manifest.json: no JSON',
    );
    const twice = textOf(good, 'manifest.json').replace('{', '{"nan": "any",');
    refused(
      check(new Map(good).set('manifest.json', Buffer.from(twice))),
      'manifest.json: a name occurs twice',
    );
  });

  test('a link that leads out of the folder [FOL-20]', () => {
    const place = written(without('actual_codes.bin'));
    writeFileSync(join(root, 'elsewhere.bin'), good.get('actual_codes.bin')!);
    symlinkSync(join(root, 'elsewhere.bin'), join(place, 'actual_codes.bin'));
    refused(python(['check.py'], place), 'actual_codes.bin: a link that leads out of the folder');
  });

  test('two answers, a pickled array, an array of another type [FOL-12, FOL-18]', () => {
    const files = folderOf(jobOf({ subject: 'e4m3_to_f32' }, { cases: 4, encoding: 'npy' }));
    const expected = files.get('expected_y.npy')!;
    const both = new Map(files).set('actual_y.npy', expected).set('actual_y.bin', expected);
    refused(check(both), 'actual_y.npy and actual_y.bin: only one of them can be meant');
    for (const [code, message] of [
      ['np.array([{}], dtype=object)', 'actual_y.npy: not a .npy file that can be read'],
      ['np.zeros((4, 1), dtype="<f8")', 'actual_y.npy: type <f8; expected <f4'],
      ['np.zeros((1, 4), dtype="<f4")', 'actual_y.npy: shape [1, 4]; expected [4, 1]'],
    ] as const) {
      const place = written(files);
      const script = `import sys, numpy as np; np.save(sys.argv[1] + "/actual_y.npy", ${code})`;
      expect(python(['-c', script, place]).code).toBe(0);
      refused(python(['check.py'], place), message);
    }
  });

  test('bytes after a .npy array, a cut one [FOL-18]', () => {
    const files = folderOf(jobOf({ subject: 'e4m3_to_f32' }, { cases: 4, encoding: 'npy' }));
    const expected = Buffer.from(files.get('expected_y.npy')!);
    const answered = (bytes: Uint8Array): PythonRun => check(new Map(files).set('actual_y.npy', bytes));
    expect(answered(expected).code).toBe(0);
    refused(answered(Buffer.concat([expected, Buffer.alloc(1)])), 'actual_y.npy: too long');
    refused(answered(expected.subarray(0, -1)), 'actual_y.npy: not a .npy file');
  });

  test('lines of another grammar than the stream has [FOL-13]', () => {
    const files = folderOf(jobOf({ subject: 'mxfp4_dequantize' }, { cases: 2, encoding: 'text' }));
    const right = textOf(files, 'expected_y.txt');
    const answered = (text: string): PythonRun =>
      check(new Map(files).set('actual_y.txt', Buffer.from(text)));
    expect(answered(right).code).toBe(0);
    expect(answered(`# a comment\r\n\n${right.toUpperCase().replaceAll('\n', '\r\n')}`).code).toBe(0);
    for (const wrong of [
      right.replace(' ', '  '),
      right.replaceAll(' ', ''),
      right.replace(/^(\w{7})(\w) /, '$1 $2'),
      right.replaceAll('\n', '\r'),
      right.replaceAll('\n', '\f'),
      ` ${right}`,
    ]) {
      refused(answered(wrong), 'actual_y.txt: line 1: expected 256 hex digits');
    }
  });

  test('a header or a flag file that was changed [FOL-18]', () => {
    for (const [encoding, name] of [
      ['c', 'cases.h'],
      ['readmemh', 'flags.mem'],
      ['readmemh', 'y.svh'],
    ] as const) {
      const files = folderOf(jobOf({ subject: 'mxfp4_dequantize' }, { cases: 2, encoding }));
      const form = encoding === 'c' ? 'bin' : 'mem';
      const answered = new Map(files).set(`actual_y.${form}`, files.get(`expected_y.${form}`)!);
      expect(check(answered).code).toBe(0);
      refused(check(withBytes(answered, name, (b) => b.fill(b[3]! ^ 1, 3, 4))), `${name}: sha256 is`);
      answered.delete(name);
      refused(check(answered), `${name}: missing`);
    }
  });

  test('without NumPy: 2 with a message [FOL-18]', () => {
    refused(
      python(
        [
          '-S',
          '-c',
          'import sys; sys.path[:] = [p for p in sys.path if "-packages" not in p]; exec(open("check.py").read())',
        ],
        written(good),
      ),
      'NumPy is missing',
    );
  });

  test('300 damaged manifests and files: 2 with a message, never a traceback [FOL-18, FOL-20]', () => {
    // One process, which damages a folder of its own again and again and asks check.py each time.
    const place = written(good);
    const script = `
import io, json, os, random, sys
from contextlib import redirect_stderr, redirect_stdout
folder = sys.argv[1]
sys.path.insert(0, folder)
import check
random.seed(5)
names = [n for n in sorted(os.listdir(folder)) if n.endswith(".bin")] + ["manifest.json"] * 8
tally = {0: 0, 1: 0, 2: 0}
for run in range(300):
    name = random.choice(names)
    path = os.path.join(folder, name)
    data = open(path, "rb").read()
    kind = random.randrange(4)
    at = random.randrange(len(data))
    if kind == 0: changed = data[:at]
    elif kind == 1: changed = data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1:]
    elif kind == 2: changed = data[:at] + random.choice([b"0", b"]", b"{", b",", b'"', b"null"]) + data[at:]
    else: changed = data[:at] + data[at + 1:]
    open(path, "wb").write(changed)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = check.main(["--dir", folder])
    open(path, "wb").write(data)
    tally[code] += 1
    spaces = name == "manifest.json" and json.loads(data) == json.loads(changed) if code == 0 else False
    if code == 0 and not spaces or code == 1 and not name.startswith("actual"):
        print("WRONG", name, kind, at, code)
    if code == 2 and not err.getvalue().startswith("check.py: "):
        print("SILENT", name, kind, at)
print(json.dumps(tally))
`;
    const { code, out, err } = python(['-c', script, place]);
    expect([code, err]).toEqual([0, '']);
    const tally = JSON.parse(out);
    expect(tally['0'] + tally['1'] + tally['2']).toBe(300);
    expect(tally['2']).toBeGreaterThan(250);
  });
});

describe('bounds of a product [FOL-17, FOL-21]', () => {
  const parameters = codec('mxfp4').parameters;
  const job: GemmFolderJob = {
    ...{ format: 'mxfp4', profile: 'ocp', parameters },
    shape: [2, 40, 3],
    encoding: 'raw',
    generator: { family: 'gauss', seed: 1n },
  };
  const { files } = buildGemmFolder(job, sha256, 'test');
  const [low, high] = ['expected_c_low.bin', 'expected_c_high.bin'].map((name) => files.get(name)!);

  test('both ends are right, what lies beyond is not, and a changed end is refused', () => {
    for (const end of [low!, high!]) expect(check(new Map(files).set('actual_c.bin', end)).code).toBe(0);
    const beyond = high!.slice();
    const view = new DataView(beyond.buffer);
    const word = Math.max(view.getUint32(16, true), new DataView(low!.slice().buffer).getUint32(16, true));
    view.setUint32(16, word + 1, true);
    const { code, out } = check(new Map(files).set('actual_c.bin', beyond));
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('1 of 6 elements differ; first at row 1, block 0, element 1'),
    ]);
    const tampered = withBytes(new Map(files).set('actual_c.bin', low!), 'expected_c_high.bin', (bytes) => {
      bytes[0]! ^= 1;
    });
    expect(check(tampered).code).toBe(2);
  });
});
