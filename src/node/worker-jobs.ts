/**
 * The jobs a worker thread knows, by name. Each is loaded when it is first asked for, so a thread has only what it needs.
 * @module
 */
import type { Job } from './worker-job.ts';

export const JOBS = {
  gemm: async () => (await import('./gemm-file.ts')).gemmPart,
  quantize: async () => (await import('./quantize-job.ts')).quantizeJob,
  dequantize: async () => (await import('./dequantize-job.ts')).dequantizeJob,
  probe: async () => (await import('./worker-probe.ts')).probe,
};

export type JobName = keyof typeof JOBS;

type JobOf<K extends JobName> = Awaited<ReturnType<(typeof JOBS)[K]>>;
export type Setup<K extends JobName> = JobOf<K> extends Job<infer S, never, unknown> ? S : never;
export type Input<K extends JobName> = JobOf<K> extends Job<never, infer I, unknown> ? I : never;
export type Output<K extends JobName> = JobOf<K> extends Job<never, never, infer O> ? O : never;

/** A job by a name that is known to be one; typed loosely, since the pool only carries its data. */
export const loadJob = async (name: JobName): Promise<Job<unknown, unknown, unknown>> =>
  (await JOBS[name]()) as Job<unknown, unknown, unknown>;
