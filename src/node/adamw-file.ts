/**
 * Runs of AdamW from one file to another, line by line. Clauses: spec/adamw.md ADW-12.
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import type { Kernel } from '../grpo/adamw.ts';
import { parseAdamWRecord, runAdamW } from '../grpo/adamw-record.ts';
import { jsonLines } from './json-lines.ts';
import { writeWhole } from './output-file.ts';

/**
 * ADW-12. Writes a line for every line of the input that is not empty.
 * @returns how many
 * @throws Fp4Error; then nothing is written
 */
export function adamwFile(input: string, output: string, kernel: Kernel): Promise<number> {
  return writeWhole(output, async (file) => {
    let lines = 0;
    let offset = 0;
    for (const { place, value } of jsonLines(input)) {
      const bytes = Buffer.from(
        `${JSON.stringify(runAdamW(parseAdamWRecord(value, `${place}: `), kernel))}\n`,
      );
      file.write(bytes, offset);
      offset += bytes.length;
      lines++;
      await setImmediate(); // lets a signal through
    }
    return lines;
  });
}
