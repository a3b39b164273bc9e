/**
 * The stream without a stream: a function's answers to lines held in memory, for a browser or a script.
 * Clauses: spec/stream.md STR-01, STR-03, STR-05, STR-06.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { formatFields, formatStages, parseLine } from './line.ts';
import type { AnyPolicy } from './oracle-function.ts';
import { functionByName, policyOf } from './registry.ts';
import { answer } from './session.ts';

export interface TextOptions {
  readonly profile?: string;
  readonly parameters?: AnyPolicy;
  /** Append every intermediate by name. */
  readonly stages?: boolean;
}

/** STR-03. The line without its end, or undefined where it carries no case. */
export function caseText(raw: string): string | undefined {
  const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
  return line === '' || line.startsWith('#') ? undefined : line;
}

/**
 * STR-06. What `fp4 eval NAME` writes for the same lines.
 * @param text inputs, a case a line
 * @returns outputs, a line each
 * @throws Fp4Error for an unknown name, and for a malformed line, by its number
 */
export function evaluateText(name: string, text: string, options: TextOptions = {}): string {
  const f = functionByName(name);
  const policy = policyOf(f, options.profile, options.parameters);
  const outputs = f.outputs(policy);
  const stages = options.stages === true ? f.stages(policy) : [];
  let written = '';
  for (const [k, raw] of text.split('\n').entries()) {
    const line = caseText(raw);
    if (line === undefined) continue;
    const at = `line ${k + 1}`;
    const { values } = parseLine(line, f.inputs, [], at);
    try {
      const given = answer(f, policy, values, stages.length > 0);
      written += formatFields(outputs, given.outputs);
      written += stages.length > 0 ? ` ${formatStages(stages, given.stages)}\n` : '\n';
    } catch (error) {
      throw error instanceof Fp4Error ? new Fp4Error(error.code, `${at}: ${error.message}`) : error;
    }
  }
  return written;
}
