/**
 * The steps that the vectors of GRPO take.
 * Clauses: spec/grpo.md GRP-01 to GRP-20.
 * @module
 */
import { EDGE_STEPS } from './grpo-edge-steps.ts';
import { MODE_STEPS } from './grpo-mode-steps.ts';

export type Config = Readonly<Record<string, unknown>>;

export interface VectorStep {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly step: Readonly<Record<string, unknown>>;
}

export const VECTOR_STEPS: readonly VectorStep[] = [...MODE_STEPS, ...EDGE_STEPS];
