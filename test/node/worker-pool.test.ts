/** The pool of worker threads: order, bounds, errors, and nothing left behind. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { Fp4Error } from '../../src/error.ts';
import type { Message } from '../../src/node/worker-job.ts';
import { withWorkers } from '../../src/node/worker-pool.ts';
import type { ProbeInput, ProbeOutput } from '../../src/node/worker-probe.ts';

const input = (first: number, more: Omit<ProbeInput, 'bytes'> = {}): Message<ProbeInput> => ({
  value: { bytes: Uint8Array.of(first, 0), ...more },
});

/** Runs the probe on inputs, and gives its outputs so far and what it threw. */
async function probed(
  threads: number,
  inputs: Iterable<Message<ProbeInput>>,
): Promise<{ outputs: ProbeOutput[]; error: unknown }> {
  const outputs: ProbeOutput[] = [];
  try {
    await withWorkers(threads, async (pool) => {
      for await (const output of pool.run('probe', 100, inputs)) outputs.push(output);
    });
  } catch (error) {
    return { outputs, error };
  }
  return { outputs, error: undefined };
}

const firsts = (outputs: readonly ProbeOutput[]): number[] => outputs.map(({ bytes }) => bytes[0]!);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe.each([1, 2, 3])('a pool of %i [TEN-23]', (threads) => {
  test('outputs come in the order of the inputs, whoever is faster', async () => {
    const inputs = upTo(20).map((i) => input(i, { busy: i % 3 === 0 ? 20 : 0 }));
    const { outputs, error } = await probed(threads, inputs);
    expect(error).toBeUndefined();
    expect(firsts(outputs)).toEqual(upTo(20).map((i) => i + 100));
    const used = new Set(outputs.map(({ thread }) => thread));
    // One thread means that none is started.
    if (threads === 1) expect([...used]).toEqual([outputs[0]!.thread]);
    else expect(used.size).toBe(threads);
  });

  test('only a few inputs are taken before their outputs are used', async () => {
    let taken = 0;
    function* inputs() {
      for (const i of upTo(50)) {
        taken++;
        yield input(i);
      }
    }
    await withWorkers(threads, async (pool) => {
      let used = 0;
      for await (const _ of pool.run('probe', 0, inputs())) {
        used++;
        expect(taken - used).toBeLessThan(4 * threads);
      }
      expect(used).toBe(50);
    });
  });

  test('bad input is an Fp4Error with its code, after the outputs before it; of two the first', async () => {
    const inputs = upTo(9).map((i) =>
      input(i, i === 4 ? { fail: 'input', busy: 60 } : i > 4 ? { fail: 'defect' } : {}),
    );
    const { outputs, error } = await probed(threads, inputs);
    expect(firsts(outputs)).toEqual([100, 101, 102, 103]);
    expect(error).toBeInstanceOf(Fp4Error);
    expect(error).toMatchObject({ code: 'E_LENGTH', message: '4 is refused' });
  });

  test('a defect keeps its message and is no Fp4Error', async () => {
    const { error } = await probed(threads, [input(7, { fail: 'defect' })]);
    expect(error).not.toBeInstanceOf(Fp4Error);
    expect(error).toMatchObject({ message: '7 is a defect' });
  });

  test('two series at once, each with its own setup', async () => {
    const found = await withWorkers(threads, async (pool) => {
      const series = [1, 50].map((setup) =>
        pool.run(
          'probe',
          setup,
          upTo(5).map((i) => input(i)),
        ),
      );
      const sums: number[] = [];
      for (let i = 0; i < 5; i++) {
        for (const one of series) sums.push((await one.next()).value!.bytes[0]!);
      }
      return sums;
    });
    expect(found).toEqual(upTo(5).flatMap((i) => [i + 1, i + 50]));
  });

  test('a caller that stops early stops the pool', async () => {
    const used = withWorkers(threads, async (pool) => {
      for await (const { bytes } of pool.run(
        'probe',
        0,
        upTo(40).map((i) => input(i)),
      )) {
        if (bytes[0] === 3) throw new Fp4Error('E_USAGE', 'enough');
      }
    });
    await expect(used).rejects.toMatchObject({ code: 'E_USAGE', message: 'enough' });
  });
});

test('a thread that ends is an error, not a wait without end', async () => {
  const { error } = await probed(2, [input(1), input(2, { fail: 'exit' }), input(3), input(4), input(5)]);
  expect(error).toMatchObject({ message: 'a worker thread ended before its work was done' });
});

test('what is transferred is moved', async () => {
  const bytes = new Uint8Array(1000).fill(5);
  const { outputs } = await probed(2, [{ value: { bytes }, transfer: [bytes.buffer] }]);
  expect(outputs[0]!.bytes).toEqual(new Uint8Array(1000).fill(105));
  expect(bytes.length).toBe(0);
});

test('a process whose pool is done ends by itself', () => {
  const pool = new URL('../../dist/node/worker-pool.js', import.meta.url).href;
  const script = `const { withWorkers } = await import('${pool}');
    await withWorkers(2, async (pool) => {
      for await (const { bytes } of pool.run('probe', 1, [{ value: { bytes: Uint8Array.of(41) } }])) console.log(bytes[0]);
    });`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 });
  expect(out.toString()).toBe('42\n');
});
