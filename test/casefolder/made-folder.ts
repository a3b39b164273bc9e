/** Case folders in memory for the tests, and a device that shares no code with the oracle. */
import { createHash } from 'node:crypto';
import { buildFolder } from '../../src/casefolder/folder.ts';
import {
  type FolderGenerator,
  type FolderJob,
  type JobRequest,
  subjectOf,
} from '../../src/casefolder/folder-job.ts';
import type { Manifest } from '../../src/casefolder/manifest.ts';
import type { AnyPolicy } from '../../src/functions/oracle-function.ts';
import { encodeHiF4, type HiF4Choice } from '../independent/hif4-by-thresholds.ts';
import { encodeMXFP4, type Mxfp4Choice } from '../independent/mxfp4-by-thresholds.ts';
import { bf16FromBits, f32FromBits } from '../independent/platform-floats.ts';

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export type GeneratedJob = FolderJob & { readonly generator: FolderGenerator };

/** A job with the defaults of the command, but no boundary cases. */
export function jobOf(request: JobRequest, more: Partial<GeneratedJob> = {}): GeneratedJob {
  return {
    ...subjectOf(request),
    generator: { family: 'gauss', seed: 3n },
    layout: 'linear',
    encoding: 'raw',
    names: 'plain',
    stages: false,
    ...more,
  };
}

export type Files = Map<string, Uint8Array>;

export const folderOf = (job: GeneratedJob): Files => new Map(buildFolder(job, sha256).files);

export const textOf = (files: Files, name: string): string => new TextDecoder().decode(files.get(name));

export const manifestOf = (files: Files): Manifest => JSON.parse(textOf(files, 'manifest.json'));

/** The words of a raw file of 1, 2 or 4 bytes each, little-endian. */
export function rawWords(bytes: Uint8Array, size: 1 | 2 | 4): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const read = { 1: view.getUint8, 2: view.getUint16, 4: view.getUint32 }[size];
  return Array.from({ length: bytes.length / size }, (_, i) => read.call(view, size * i, true));
}

export function littleEndian(words: readonly number[], size: 1 | 2 | 4): Uint8Array {
  const view = new DataView(new ArrayBuffer(size * words.length));
  const write = { 1: view.setUint8, 2: view.setUint16, 4: view.setUint32 }[size];
  for (const [i, word] of words.entries()) write.call(view, size * i, word, true);
  return new Uint8Array(view.buffer);
}

/** Codes two a byte, the even one low. */
export const nibbles = (codes: readonly number[]): Uint8Array =>
  Uint8Array.from({ length: codes.length / 2 }, (_, j) => codes[2 * j]! + 16 * codes[2 * j + 1]!);

/** What a device that follows the policy writes for BF16 (HiF4) or FP32 (MXFP4) inputs in rows of whole blocks. */
export function deviceOutputs(
  format: 'hif4' | 'mxfp4',
  input: Uint8Array,
  policy: AnyPolicy,
): { scales: number[]; codes: number[] } {
  const numbers =
    format === 'hif4' ? rawWords(input, 2).map(bf16FromBits) : rawWords(input, 4).map(f32FromBits);
  const size = format === 'hif4' ? 64 : 32;
  const scales: number[] = [];
  const codes: number[] = [];
  for (let at = 0; at < numbers.length; at += size) {
    const block = numbers.slice(at, at + size);
    if (format === 'hif4') {
      const unit = encodeHiF4(block, policy as unknown as HiF4Choice);
      scales.push(unit.word);
      codes.push(...unit.codes);
    } else {
      const encoded = encodeMXFP4(block, policy as unknown as Mxfp4Choice);
      scales.push(encoded.scale);
      codes.push(...encoded.codes);
    }
  }
  return { scales, codes };
}

/** A copy of a folder with the outputs of a right device in it. */
export function withDevice(
  files: Files,
  format: 'hif4' | 'mxfp4',
  policy: AnyPolicy,
  scale = 'scale',
): Files {
  const { scales, codes } = deviceOutputs(format, files.get('input_x.bin')!, policy);
  return new Map([
    ...files,
    [`actual_${scale}.bin`, littleEndian(scales, format === 'hif4' ? 4 : 1)],
    ['actual_codes.bin', nibbles(codes)],
  ]);
}
