/** The stream in batches against the stream case by case: the same function with `batch` taken away. */
import { Readable, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OracleFunction } from '../../src/functions/oracle-function.ts';
import { FUNCTIONS, policyOf } from '../../src/functions/registry.ts';
import { type Encoding, evaluate, generateTo, type StreamJob, verify } from '../../src/node/stream.ts';

const BATCHED = FUNCTIONS.filter((f) => f.batch !== undefined);

const jobOf = (f: OracleFunction, encoding: Encoding, set: Record<string, string>): StreamJob => ({
  function: f,
  policy: policyOf(f, undefined, set),
  encoding,
  stages: false,
});

const unbatched = (job: StreamJob): StreamJob => {
  const { batch: _, ...f } = job.function;
  return { ...job, function: f };
};

/** What a job on a stream wrote and threw. */
async function outcome(run: (out: Writable) => Promise<unknown>): Promise<unknown[]> {
  const pieces: Buffer[] = [];
  const out = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(Buffer.from(piece));
      done();
    },
  });
  try {
    const result = await run(out);
    return [Buffer.concat(pieces).toString('latin1'), result];
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return [Buffer.concat(pieces).toString('latin1'), code, message];
  }
}

const inPieces = (bytes: Buffer, size: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, k) =>
      bytes.subarray(size * k, size * (k + 1)),
    ),
  );

/** What eval, and verify with every difference, do with some bytes. */
async function judged(job: StreamJob, bytes: Buffer, size: number): Promise<unknown[]> {
  const told: unknown[] = [];
  return [
    await outcome((out) => evaluate(job, inPieces(bytes, size), out)),
    await outcome(() => verify(job, inPieces(bytes, size), (d) => void told.push(d))),
    told,
  ];
}

const generation = (count: number) => ({ seed: 5n, level: 1, count, shard: 1, of: 1 }) as const;

const SETTINGS = [{}, { nonfinite: 'error' }, { output: 'bf16' }];

describe.each(BATCHED)('$name', (f) => {
  const settings = SETTINGS.filter((set) => Object.keys(set).every((name) => name in f.parameters));

  test('gen: boundary cases, families and shards [STR-09]', async () => {
    for (const set of settings) {
      for (const encoding of ['text', 'raw'] as const) {
        const job = jobOf(f, encoding, set);
        for (const g of [
          generation(1500),
          generation(7),
          generation(0),
          { ...generation(900), shard: 2, of: 3 },
          { ...generation(300), family: 'gauss' as const, shard: 1, of: 2 },
          { ...generation(300), family: 'bits-any' as const },
        ]) {
          for (const inputsOnly of [false, true]) {
            const [found, expected] = [
              await outcome((out) => generateTo(job, g, inputsOnly, out)),
              await outcome((out) => generateTo(unbatched(job), g, inputsOnly, out)),
            ];
            expect(found).toEqual(expected);
          }
        }
      }
    }
  });

  test('eval and verify: comments, line ends, stages, and lines with something wrong [STR-03, STR-06, STR-08]', async () => {
    const plain = async (inputsOnly: boolean, stages: boolean): Promise<string[]> => {
      const job = { ...jobOf(f, 'text', {}), stages };
      const g = { ...generation(40), family: 'bits-any' as const };
      const [text] = await outcome((out) => generateTo(job, g, inputsOnly, out));
      return (text as string).trimEnd().split('\n');
    };
    const lines = [...(await plain(true, false)), ...(await plain(false, false))];
    if (f.stages(policyOf(f)).length > 0) lines.push(...(await plain(false, true)));
    const line = fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(...lines) },
      { weight: 2, arbitrary: fc.constantFrom(...lines).map((text) => text.toUpperCase()) },
      { weight: 1, arbitrary: fc.constantFrom('', '# a comment', '#', ' ', 'x') },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom(...lines), fc.nat(), fc.constantFrom('0', '7', 'f', ' ', 'g', '', '00'))
          .map(([text, place, other]) => {
            const at = place % text.length;
            return text.slice(0, at) + other + text.slice(at + 1);
          }),
      },
    );
    // Lines of one kind, so that a session is not over at once; now and then any.
    const inputs = lines.slice(0, 40);
    const complete = lines.slice(40, 80);
    const session = fc.oneof(
      fc.array(fc.constantFrom(...inputs), { maxLength: 30 }),
      fc.array(fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...complete) }, line), { maxLength: 60 }),
      fc.array(fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...inputs) }, line), { maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(
        session,
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.integer({ min: 50, max: 5000 }),
        fc.constantFrom(...settings),
        async (texts, end, ended, size, set) => {
          const bytes = Buffer.from(texts.join(end) + (ended ? end : ''), 'latin1');
          const job = jobOf(f, 'text', set);
          expect(await judged(job, bytes, size)).toEqual(await judged(unbatched(job), bytes, size));
        },
      ),
      { numRuns: 100 },
    );
  });

  test('raw records of any bytes, cut short or not [STR-04]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 3000 }),
        fc.integer({ min: 50, max: 5000 }),
        fc.constantFrom(...settings),
        async (bytes, size, set) => {
          const job = jobOf(f, 'raw', set);
          const buffer = Buffer.from(bytes);
          expect(await judged(job, buffer, size)).toEqual(await judged(unbatched(job), buffer, size));
        },
      ),
      { numRuns: 100 },
    );
  });
});
