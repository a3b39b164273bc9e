/** `fp4 verify --dir`: a case folder that a device has written into, judged bit by bit (spec/folders.md FOL-19). */

import type { FolderDifference } from '../casefolder/check-compare.ts';
import type { FolderVerdict } from '../casefolder/folder-verdict.ts';
import { Fp4Error } from '../error.ts';
import { verifyCaseFolder } from '../node/case-folder.ts';
import { Output } from '../node/output.ts';
import type { StreamOptions } from './options.ts';
import { quantizedInput } from './quantized-options.ts';
import type { VerifyTensorOptions } from './verify-tensor.ts';

/** Differences that a JSON report spells out; the rest is counted. */
const SHOWN = 100;

/** What a folder's verdict says to people: each file, then the first one that is wrong. */
function folderText(verdict: FolderVerdict): string {
  const lines = verdict.files.map(({ name, role, wrong, elements }) => {
    if (wrong === undefined) return `${name}: not given`;
    return `${name}${role === 'stage' ? ' (stage)' : ''}: ${wrong} of ${elements} elements differ`;
  });
  const { first } = verdict;
  if (first) {
    lines.push(
      `first wrong: ${first.name}, ${first.place}: expected ${first.expected}, found ${first.found}`,
    );
  }
  lines.push(`${verdict.function}: ${verdict.cases} cases, ${verdict.differences} elements differ`);
  return `${lines.join('\n')}\n`;
}

/** @throws Fp4Error for a folder that cannot be judged */
export async function verifyDir(dir: string, json: boolean): Promise<void> {
  const output = new Output(process.stdout);
  const shown: FolderDifference[] = [];
  const tell = (d: FolderDifference): void => {
    if (!json) output.line([d.name, d.place, d.expected, d.found].join('\t'));
    else if (shown.length < SHOWN) shown.push(d);
  };
  try {
    const verdict = verifyCaseFolder(dir, tell);
    if (json) {
      const { first: _first, files, ...rest } = verdict;
      const given = files.map(({ wrong, ...file }) => ({ ...file, wrong: wrong ?? null }));
      output.line(JSON.stringify({ ...rest, files: given, first: shown }));
    } else {
      process.stderr.write(folderText(verdict));
    }
    if (verdict.differences > 0) process.exitCode = 1;
  } finally {
    await output.flush();
  }
}

/** A folder says itself what it is about. @throws Fp4Error E_USAGE */
export function refuseBesideDir(
  name: string | undefined,
  options: StreamOptions & VerifyTensorOptions,
): void {
  quantizedInput('-', options);
  const given =
    name ?? options.profile ?? Object.keys(options.set)[0] ?? (options.stages ? '--stages' : undefined);
  if (given === undefined) return;
  throw new Fp4Error(
    'E_USAGE',
    `"${given}" beside --dir: the folder's manifest says function, parameters and stages`,
  );
}
