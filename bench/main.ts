/**
 * npm run bench -- [--json FILE] [--section NAME]... [--rounds N] [--sizes FROM:TO]
 * Every section's table on stdout; --sizes are powers of two (14:24). Progress on stderr, on a terminal.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { SECTIONS } from './sections.ts';
import { table } from './table.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    section: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '14:24' },
  },
});

function usage(message: string): never {
  console.error(`bench: ${message}`);
  process.exit(2);
}

const whole = (text: string, name: string): number =>
  /^\d+$/.test(text) ? Number(text) : usage(`${name} is "${text}"; expected a whole number`);

const rounds = whole(values.rounds, '--rounds');
const [from, to = from] = values.sizes.split(':').map((text) => whole(text, '--sizes'));
if (rounds < 1 || from! < 6 || to! < from! || to! > 28)
  usage('--rounds from 1, --sizes FROM:TO from 6 to 28');
const unknown = values.section.find((name) => SECTIONS.every((section) => section.name !== name));
if (unknown !== undefined) {
  usage(`unknown section "${unknown}"; there are ${SECTIONS.map((section) => section.name).join(', ')}`);
}
const sizes = Array.from({ length: (to! - from!) / 2 + 1 }, (_, i) => 2 ** (from! + 2 * i));

const CLEAR = '\r\u001b[K';
const tell = (what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR}${what} ...`);
};

const results: object[] = [];
for (const section of SECTIONS) {
  if (values.section.length > 0 && !values.section.includes(section.name)) continue;
  tell(section.title);
  const result = await section.run({ rounds, sizes }, tell);
  if (process.stderr.isTTY) process.stderr.write(CLEAR);
  console.log(`${section.title}\n\n${table(result.header, result.rows)}\n`);
  console.log(`${result.notes.join('\n')}\n`);
  results.push({ section: section.name, figures: result.figures });
}
if (values.json !== undefined) {
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? '', cores: cpus().length };
  writeFileSync(values.json, `${JSON.stringify({ machine, rounds, results }, null, 2)}\n`);
}
