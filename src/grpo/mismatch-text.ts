/**
 * A mismatch report for a person, and for programs. Clauses: spec/grpo.md GRP-21.
 * @module
 */
import type { MismatchReport } from './mismatch.ts';
import { formatJson } from './step-result.ts';

const shown = (x: number): string => (Number.isFinite(x) ? String(Number(x.toPrecision(6))) : String(x));
const percent = (x: number): string => `${(100 * x).toFixed(2)} %`;

/** Columns padded to their widest cell, the first to the left. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, c) => Math.max(...rows.map((row) => row[c]!.length)));
  return rows.map((row) =>
    `  ${row.map((cell, c) => (c === 0 ? cell.padEnd(widths[c]!) : cell.padStart(widths[c]!))).join('  ')}`.trimEnd(),
  );
}

/** The lines of a report. */
export function mismatchText(report: MismatchReport): string[] {
  const { metrics, ratio_percentiles: ratios, effects, worst } = report;
  const worstRows = worst.map((t) => [t.path, t.training, t.rollout, t.log_ratio, t.ratio] as const);
  return [
    `${report.tokens} valid tokens in ${report.sequences} sequences: training against rollout`,
    '',
    ...table(Object.entries(metrics).map(([name, x]) => [name, shown(x)])),
    '',
    'ratio training / rollout, percentiles',
    ...table([Object.keys(ratios), Object.values(ratios).map(shown)]),
    '',
    'what corrections would do',
    ...table([
      ['correction', 'changed', 'dropped', 'sequences', 'mean weight', 'ess'],
      ...effects.map((e) => [
        e.correction,
        percent(e.tokens_changed),
        percent(e.tokens_dropped),
        percent(e.sequences_touched),
        shown(e.mean_weight),
        percent(e.eff_sample_size),
      ]),
    ]),
    '',
    'worst tokens',
    ...table([
      ['token', 'training', 'rollout', 'log-ratio', 'ratio'],
      ...worstRows.map(([path, ...numbers]) => [path, ...numbers.map(shown)]),
    ]),
  ];
}

/** All reports as one JSON object. */
export const mismatchJson = (reports: readonly MismatchReport[]): string =>
  formatJson({ steps: reports.map(({ points: _, ...report }) => report) });
