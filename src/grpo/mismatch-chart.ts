/**
 * A mismatch as a picture: each valid token's log-probs under both policies, and how their log-ratios are distributed.
 * Clauses: spec/grpo.md GRP-21.
 * @module
 */
import { log } from '../number/elementary.ts';
import type { MismatchReport } from './mismatch.ts';

const SIZE = 320;
const MARGIN = 56;
const WIDTH = 2 * SIZE + 3 * MARGIN;
const HEIGHT = SIZE + 2 * MARGIN;
const BINS = 41;
/** More would only fatten the file. */
const MOST_POINTS = 4000;

const fixed = (x: number): string => String(Number(x.toFixed(2)));
const text = (x: number, y: number, label: string, anchor = 'middle'): string =>
  `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}">${label}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}" class="${kind}"/>`;
const frame = (x: number): string =>
  `<rect x="${x}" y="${MARGIN}" width="${SIZE}" height="${SIZE}" class="frame"/>`;

function scatter(points: readonly (readonly [number, number])[]): string[] {
  const lowest = points.reduce((a, [t, r]) => Math.min(a, t, r), -1);
  const place = (x: number): number => (Math.min(x, 0) / lowest) * SIZE; // 0 at log-prob 0
  const step = Math.max(1, Math.ceil(points.length / MOST_POINTS));
  const x = (value: number): number => MARGIN + SIZE - place(value);
  const y = (value: number): number => MARGIN + place(value);
  return [
    frame(MARGIN),
    line(x(lowest), y(lowest), x(0), y(0), 'guide'),
    ...points
      .filter((_, k) => k % step === 0)
      .map(([t, r]) => `<circle cx="${fixed(x(r))}" cy="${fixed(y(t))}" r="1.5"/>`),
    text(MARGIN + SIZE / 2, HEIGHT - 12, 'rollout log-prob'),
    text(MARGIN, HEIGHT - 32, fixed(lowest)),
    text(MARGIN + SIZE, HEIGHT - 32, '0'),
    text(MARGIN + SIZE / 2, MARGIN - 16, 'training log-prob (up) against rollout log-prob'),
  ];
}

function histogram(logs: readonly number[]): string[] {
  const ln2 = log(2);
  const left = 2 * MARGIN + SIZE;
  const largest = logs.reduce((a, l) => Math.max(a, Math.abs(l)), ln2 * 1.2);
  const counts = new Array<number>(BINS).fill(0);
  for (const l of logs) counts[Math.min(BINS - 1, Math.floor(((l / largest + 1) / 2) * BINS))]!++;
  // Square roots keep single tokens in sight beside thousands.
  const top = Math.sqrt(Math.max(...counts, 1));
  const x = (l: number): number => left + ((l / largest + 1) / 2) * SIZE;
  return [
    frame(left),
    ...counts.map((n, k) => {
      const height = (Math.sqrt(n) / top) * SIZE;
      return `<rect x="${fixed(left + (k * SIZE) / BINS)}" y="${fixed(MARGIN + SIZE - height)}" width="${fixed(SIZE / BINS)}" height="${fixed(height)}" class="bar"/>`;
    }),
    ...[-ln2, ln2].map((l) => line(x(l), MARGIN, x(l), MARGIN + SIZE, 'guide')),
    text(x(-ln2), HEIGHT - 32, '1/2'),
    text(x(ln2), HEIGHT - 32, '2'),
    text(x(0), HEIGHT - 32, '1'),
    text(left, HEIGHT - 12, `${fixed(-largest)}`, 'start'),
    text(left + SIZE, HEIGHT - 12, fixed(largest), 'end'),
    text(left + SIZE / 2, HEIGHT - 12, 'log-ratio training - rollout'),
    text(
      left + SIZE / 2,
      MARGIN - 16,
      `tokens by log-ratio (heights: roots; highest ${Math.max(...counts)})`,
    ),
  ];
}

/** The valid tokens of all reports as an SVG; tokens whose log-ratio is not finite are counted in the title. */
export function mismatchChart(reports: readonly MismatchReport[]): string {
  const all = reports.flatMap((report) => report.points);
  const points = all.filter(([t, r]) => Number.isFinite(t) && Number.isFinite(r));
  const logs = points.map(([t, r]) => t - r);
  const left = all.length - points.length;
  const title = `${all.length} tokens${left > 0 ? `, ${left} of them not finite and not shown` : ''}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">`,
    `<title>Training against rollout: ${title}</title>`,
    '<style>text{font:12px sans-serif;fill:#333}.frame{fill:none;stroke:#999}.guide{stroke:#c33;stroke-dasharray:4 3}circle{fill:#246;fill-opacity:.4}.bar{fill:#468}</style>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(WIDTH / 2, 18, title),
    ...scatter(points),
    ...histogram(logs),
    '</svg>',
    '',
  ].join('\n');
}
