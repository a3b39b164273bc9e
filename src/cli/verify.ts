/** `fp4 verify`: cases on stdin, or a case folder, judged bit by bit. */
import type { Command } from 'commander';
import { Fp4Error } from '../error.ts';
import { functionByName } from '../functions/registry.ts';
import { verifyCaseFolder } from '../node/case-folder.ts';
import { Output } from '../node/output.ts';
import { type ReportedDifference, verify } from '../node/stream.ts';
import type { FolderDifference } from '../pack/check-compare.ts';
import type { FolderVerdict } from '../pack/check-folder.ts';
import { type StreamOptions, streamJob, withStream } from './options.ts';

/** Differences that a JSON report spells out; the rest is counted. */
const SHOWN = 100;

interface VerifyOptions extends StreamOptions {
  json?: boolean;
  dir?: string;
}

async function verifyStream(name: string, options: VerifyOptions): Promise<void> {
  const job = streamJob(functionByName(name), options);
  const output = new Output(process.stdout);
  const shown: ReportedDifference[] = [];
  const tell = (d: ReportedDifference): void | Promise<void> => {
    if (options.json) {
      if (shown.length < SHOWN) shown.push(d);
      return;
    }
    output.line([d.line, d.field, d.expected, d.found].join('\t'));
    if (output.full) return output.flush();
  };
  try {
    const { lines, differences } = await verify(job, process.stdin, tell);
    if (options.json) {
      const report = { function: name, parameters: job.policy, lines, differences, first: shown };
      output.line(JSON.stringify(report));
    } else {
      process.stderr.write(`${name}: ${lines} cases, ${differences} differ\n`);
    }
    if (differences > 0) process.exitCode = 1;
  } finally {
    await output.flush();
  }
}

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

async function verifyDir(dir: string, options: VerifyOptions): Promise<void> {
  const output = new Output(process.stdout);
  const shown: FolderDifference[] = [];
  const tell = (d: FolderDifference): void => {
    if (!options.json) output.line([d.name, d.place, d.expected, d.found].join('\t'));
    else if (shown.length < SHOWN) shown.push(d);
  };
  try {
    const verdict = verifyCaseFolder(dir, tell);
    if (options.json) {
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

/** A folder says itself what it is about. */
function refuseBeside(name: string | undefined, options: VerifyOptions): void {
  const given =
    name ?? options.profile ?? Object.keys(options.set)[0] ?? (options.stages ? '--stages' : undefined);
  if (given === undefined) return;
  throw new Fp4Error(
    'E_USAGE',
    `"${given}" beside --dir: the folder's manifest says function, parameters and stages`,
  );
}

export function addVerify(program: Command): void {
  withStream(
    program
      .command('verify [function]')
      .description(
        'judge inputs and outputs on stdin: each difference as line, field[index], expected, found; or a case folder',
      ),
  )
    .option('--json', 'one JSON report on stdout')
    .option('--dir <folder>', 'judge the files that a device wrote into a case folder')
    .action(async (name: string | undefined, options: VerifyOptions) => {
      if (options.dir !== undefined) {
        refuseBeside(name, options);
        return verifyDir(options.dir, options);
      }
      if (name === undefined) throw new Fp4Error('E_USAGE', 'verify needs a function, or --dir');
      return verifyStream(name, options);
    });
}
