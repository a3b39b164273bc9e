/** `fp4 prune`: structured sparsity on a quantized or plain tensor file, with its metadata (spec/sparsity.md). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Fp4Error } from '../error.ts';
import { type PruneResult, pruneFile } from '../node/prune-file.ts';
import { WORD_FORMS, type WordForm } from '../sparsity/metadata-words.ts';
import { isGroupPattern, ODD_RULES, type OddRule, PATTERNS, type Pattern } from '../sparsity/pattern.ts';
import { CONVENTIONS, type Convention, OVERFULL, type Overfull } from '../sparsity/slots.ts';
import { TIE_RULES, type TieRule } from '../sparsity/ties.ts';
import { axisNumber, checkOutputName, secondsSince } from './tensor-options.ts';

interface PruneCommand {
  output: string;
  pattern: Pattern;
  axis?: number;
  ties: TieRule;
  odd: OddRule;
  overfull: 'rank' | Overfull;
  convention: Convention;
  words: WordForm;
  bf16?: boolean;
  json?: boolean;
}

/** SPA-05. A rule by name, or indices separated by commas, the winner first. */
function tieRule(text: string): TieRule {
  const named = TIE_RULES.find((rule) => rule === text);
  if (named !== undefined) return named;
  if (/^\d{1,9}(,\d{1,9})*$/.test(text)) return text.split(',').map(Number);
  throw new InvalidArgumentError(
    `It is ${TIE_RULES.join(' or ')}, or indices such as 2,0,3,1, the winner first.`,
  );
}

const shownTies = (ties: TieRule): string => (typeof ties === 'string' ? ties : ties.join());

function text({ shape, axis, report }: PruneResult, { pattern, ties }: PruneCommand): string {
  const share = (count: number): string => `${((100 * count) / Math.max(1, report.elements)).toFixed(4)} %`;
  return [
    `${pattern} of [${shape.join(', ')}] along axis ${axis}, ties ${shownTies(ties)}`,
    `elements  ${report.elements}, and ${report.padding} of padding`,
    `kept      ${report.kept}`,
    `pruned    ${report.pruned}, of them ${report.lost} not zero (${share(report.lost)} of all)`,
    `tied      ${report.tied} of ${report.rankings} rankings (${(100 * report.tied_share).toFixed(4)} %)`,
    '',
  ].join('\n');
}

export function addPrune(program: Command): void {
  program
    .command('prune <input>')
    .description(
      'prune a quantized .safetensors file, X.npy (f2 f4 f8; u2 with --bf16) or FILE.safetensors:NAME',
    )
    .requiredOption('-o, --output <file>', 'the .safetensors file to write; .npy for a plain tensor alone')
    .addOption(new Option('--pattern <name>', 'what is kept').choices(PATTERNS).default('2:4'))
    .option('--axis <n>', 'the axis of the groups (default: that of the blocks, else the last)', axisNumber)
    .option(
      '--ties <rule>',
      'lowest-index, highest-index, or indices such as 2,0,3,1',
      tieRule,
      'lowest-index',
    )
    .addOption(
      new Option('--odd <rule>', 'how many of an odd number stay').choices(ODD_RULES).default('ceil'),
    )
    .addOption(
      new Option('--overfull <rule>', 'groups with too many nonzeros')
        .choices(['rank', ...OVERFULL])
        .default('rank'),
    )
    .addOption(new Option('--convention <name>', 'of the metadata').choices(CONVENTIONS).default('kept'))
    .addOption(new Option('--words <form>', 'of the metadata').choices(WORD_FORMS).default('u8'))
    .option('--bf16', 'the u2 words of a .npy file are BF16')
    .option('--json', 'the report as one JSON object on stdout')
    .action(async (input: string, options: PruneCommand) => {
      const start = performance.now();
      if (!options.output.endsWith('.npy')) checkOutputName(options.output, '.safetensors');
      if (!isGroupPattern(options.pattern) && options.overfull !== 'rank') {
        throw new Fp4Error('E_USAGE', `--overfull is about groups; pattern ${options.pattern} has none`);
      }
      const { json, bf16, ...job } = options;
      const result = await pruneFile({ ...job, input, bf16: bf16 === true });
      if (json) {
        const { pattern, ties, odd } = options;
        const { shape, axis, report } = result;
        process.stdout.write(`${JSON.stringify({ pattern, ties, odd, shape, axis, ...report })}\n`);
      } else {
        process.stderr.write(text(result, options));
      }
      process.stderr.write(`${options.output} written in ${secondsSince(start)}\n`);
    });
}
