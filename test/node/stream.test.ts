/** Every function through the stream: what gen writes, eval answers and verify accepts, in both encodings. */
import { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { FUNCTIONS, policyOf } from '../../src/functions/registry.ts';
import { evaluate, generateTo, type StreamJob, verify } from '../../src/node/stream.ts';

const GENERATION = { seed: 3n, level: 1, count: 700, shard: 1, of: 1 } as const;

/** A stream that keeps what is written to it. */
function collector(): { stream: Writable; bytes: () => Buffer } {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(pieces) };
}

async function generated(job: StreamJob, inputsOnly: boolean): Promise<Buffer> {
  const { stream, bytes } = collector();
  await generateTo(job, GENERATION, inputsOnly, stream);
  return bytes();
}

/** Cut into pieces that end anywhere, as a pipe does. */
const inPieces = (bytes: Buffer): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / 997) }, (_, k) => bytes.subarray(997 * k, 997 * (k + 1))),
  );

test.each(FUNCTIONS)('$name [STR-02, STR-04, STR-06, STR-08, STR-09]', async (f) => {
  for (const encoding of ['text', 'raw'] as const) {
    for (const stages of f.stages(policyOf(f)).length > 0 ? [false, true] : [false]) {
      const job: StreamJob = { function: f, policy: policyOf(f), encoding, stages };
      const cases = await generated(job, false);
      const differences: unknown[] = [];
      const summary = await verify(job, inPieces(cases), (d) => void differences.push(d));
      expect([summary, differences]).toEqual([{ lines: 700, differences: 0 }, []]);

      const answers = collector();
      await evaluate(job, inPieces(await generated(job, true)), answers.stream);
      if (encoding === 'raw') continue;
      const whole = cases.toString().trimEnd().split('\n');
      for (const [k, answer] of answers.bytes().toString().trimEnd().split('\n').entries()) {
        expect(whole[k]!.endsWith(` ${answer}`)).toBe(true);
      }
    }
  }
});
