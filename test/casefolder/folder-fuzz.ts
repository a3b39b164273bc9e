/**
 * Folders that were damaged: manifests mutated with and without a new digest, files cut and changed. None may pass with
 * wrong data, none may end in anything but a verdict or a message.
 */

import { verifyFolder } from '../../src/casefolder/check-folder.ts';
import { digestOf } from '../../src/casefolder/manifest.ts';
import { Fp4Error } from '../../src/error.ts';
import { generator } from '../independent/input-families.ts';
import { type Files, folderOf, jobOf, sha256, textOf, withDevice } from './made-folder.ts';

type Random = () => number;
const pick = <T>(random: Random, items: readonly T[]): T => items[random() % items.length]!;

/** Values that trip readers. */
const ODD: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1,
    3,
    2 ** 31,
    2 ** 53,
    1e308,
    0.5,
    '',
    '0',
    '../x',
    '/etc/passwd',
    'a/b',
    '\0',
  ],
  ...[
    'bits',
    'bound',
    'expected',
    'input',
    'stage',
    'u8',
    'f32',
    'low-first',
    'toString',
    '__proto__',
    'x'.repeat(999),
  ],
  ...[[], {}, [1, 2], { constructor: 1 }, [[[[[]]]]]],
];

interface Slot {
  readonly holder: Record<string | number, unknown>;
  readonly key: string | number;
}

/** Every member and item of a value, however deep. */
function slots(value: unknown): Slot[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...slots(holder[key])]);
}

/** A manifest with one member or item changed, removed, doubled or exchanged. */
function mutateValue(random: Random, manifest: object): void {
  const all = slots(manifest);
  const { holder, key } = pick(random, all);
  const other = pick(random, all);
  const value = holder[key];
  switch (random() % 6) {
    case 0:
      holder[key] = structuredClone(pick(random, ODD));
      break;
    case 1:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      break;
    case 2:
      holder[key] = structuredClone(other.holder[other.key]);
      break;
    case 3:
      if (Array.isArray(holder)) holder.push(structuredClone(value));
      else holder[pick(random, ['more', 'sha256', 'file', 'comment', 'toString'])] = structuredClone(value);
      break;
    case 4:
      if (typeof value === 'number') holder[key] = value + pick(random, [-1, 1, 64, 0.5]);
      else if (typeof value === 'string') holder[key] = mutateText(random, value);
      break;
    default:
      holder[key] = typeof value === 'string' ? Number(value) : String(value);
  }
}

function mutateText(random: Random, text: string): string {
  const at = random() % (text.length + 1);
  const character = pick(random, [...'0123456789abcdef"{}[],:\\/. \n-', '\u00e9', '\ud800']);
  switch (random() % 4) {
    case 0:
      return text.slice(0, at) + character + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + character + text.slice(at);
    default:
      return text.slice(0, at);
  }
}

function damage(random: Random, files: Files, names: readonly string[]): Files {
  const name = pick(random, names);
  const bytes = files.get(name)!;
  const changed = bytes.slice();
  switch (random() % 3) {
    case 0:
      changed[random() % bytes.length]! ^= 1 << (random() % 8);
      return new Map(files).set(name, changed);
    case 1:
      return new Map(files).set(name, bytes.slice(0, random() % bytes.length));
    default:
      return new Map(files).set(name, Buffer.concat([bytes, Uint8Array.of(random() % 256)]));
  }
}

const hif4 = jobOf(
  { subject: 'hif4_quantize' },
  { cases: 4, stages: true, generator: { family: 'gauss', seed: 3n } },
);
const tensor = jobOf(
  { subject: 'quantize', format: 'mxfp4' },
  { shape: [3, 64], layout: 'linear', encoding: 'raw' },
);

/** Two folders, each with what a right device wrote and with what a wrong one wrote. */
const SUBJECTS = [
  withDevice(folderOf(hif4), 'hif4', hif4.policy),
  withDevice(folderOf(tensor), 'mxfp4', tensor.policy, 'scales'),
].flatMap((right) => {
  const codes = right.get('actual_codes.bin')!.slice();
  codes[5]! ^= 0x40;
  return [
    { files: right, correct: true },
    { files: new Map(right).set('actual_codes.bin', codes), correct: false },
  ];
});

export interface FuzzCounts {
  passed: number;
  differed: number;
  refused: number;
  /** Verdicts that must not be, in words. */
  readonly wrong: string[];
}

function judgeOnce(random: Random, counts: FuzzCounts): void {
  const { files, correct } = pick(random, SUBJECTS);
  let changed = files;
  let what: string;
  const kind = random() % 4;
  if (kind === 0) {
    what = 'text of the manifest';
    changed = new Map(files).set(
      'manifest.json',
      Buffer.from(mutateText(random, textOf(files, 'manifest.json'))),
    );
  } else if (kind === 3) {
    what = 'a file';
    const names = [...files.keys()].filter((name) => name.endsWith('.bin'));
    changed = damage(random, files, names);
  } else {
    const manifest = JSON.parse(textOf(files, 'manifest.json'));
    for (let n = random() % 2; n >= 0; n--) mutateValue(random, manifest);
    what = kind === 1 ? 'manifest' : 'manifest with a new digest';
    if (kind === 2) manifest.digest = digestOf(manifest, sha256);
    changed = new Map(files).set('manifest.json', Buffer.from(JSON.stringify(manifest)));
  }
  try {
    const verdict = verifyFolder(
      textOf(changed, 'manifest.json'),
      (name) => changed.get(name),
      sha256,
      () => {},
    );
    if (verdict.differences === 0) counts.passed++;
    else counts.differed++;
    // A pass is right where the device is right and nothing it wrote was damaged.
    const intact = kind !== 3 || [...changed].every(([name, bytes]) => bytes === files.get(name));
    if (verdict.differences === 0 && (!correct || !intact)) counts.wrong.push(`${what}: passed`);
  } catch (error) {
    counts.refused++;
    if (!(error instanceof Fp4Error)) counts.wrong.push(`${what}: ${error}\n${(error as Error).stack}`);
  }
}

/** Damages folders `runs` times. */
export function fuzzFolders(runs: number, seed: number): FuzzCounts {
  const random = generator(seed);
  const counts: FuzzCounts = { passed: 0, differed: 0, refused: 0, wrong: [] };
  for (let run = 0; run < runs; run++) judgeOnce(random, counts);
  return counts;
}
