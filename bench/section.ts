/** A part of the bench: what it measures, and what came out, as a table for people and as records for programs. */

export interface BenchOptions {
  /** How often everything is measured, in turns; a figure is the median. */
  readonly rounds: number;
  /** Numbers of elements, ascending. */
  readonly sizes: readonly number[];
}

/** Tells a person what is being measured. */
export type Tell = (what: string) => void;

export interface SectionResult {
  /** One row an entry, for --json. */
  readonly figures: readonly Readonly<Record<string, string | number | null>>[];
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Lines below the table: what a reader must know to read it. */
  readonly notes: readonly string[];
}

export interface Section {
  readonly name: string;
  readonly title: string;
  run(options: BenchOptions, tell: Tell): Promise<SectionResult>;
}
