/**
 * Vectors of whole tensor files. Clauses: spec/tensors.md TEN-01 to TEN-23.
 * @module
 */
import type { PackContext } from './block-cases.ts';
import { diffTests, foreignTest, generatedTests, turnedTests } from './tensors-commands.ts';
import { JOBS, quantizeTest } from './tensors-quantize.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

export function tensorsFile(context: PackContext) {
  const group = (subject: string, clauses: readonly string[], tests: readonly object[]) => ({
    subject,
    clauses,
    tests,
  });
  const turned = turnedTests(context);
  return {
    schema: SCHEMA,
    kind: 'tensors' as const,
    generator: context.generator,
    groups: [
      group(
        'quantize',
        ['TEN-07', 'TEN-08', 'TEN-10'],
        JOBS.map((job) => quantizeTest(context, job)),
      ),
      group('foreign', ['TEN-20'], [foreignTest(context)]),
      group('diff', ['TEN-17'], [...diffTests(context), turned.diff]),
      group('verify', ['TEN-22'], [turned.verify]),
      group('tensor', ['TEN-18'], generatedTests(context)),
    ],
  } satisfies VectorFile & Record<string, unknown>;
}
