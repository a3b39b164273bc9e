/** The WebAssembly path on the main thread of a real browser: headless Chromium quantizes the vectors' blocks in one array. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type BlockTest, vectorFile, words } from '../vectors/vectors.ts';
import { answerInChromium } from './chromium.ts';

const DIST = new URL('../../dist/', import.meta.url);
const compiled = (path: string): string => readFileSync(new URL(`.${path}`, DIST), 'utf8');

const FORMATS = [
  {
    format: 'hif4',
    file: 'hif4_quantize.authors.json',
    policy: 'hif4Policy',
    kernel: 'hif4QuantizeWebAssembly',
    scales: 'Uint32Array',
    shift: 16,
  },
  {
    format: 'mxfp4',
    file: 'mxfp4_quantize_f32.ocp.json',
    policy: 'mxfp4Policy',
    kernel: 'mxfp4QuantizeWebAssembly',
    scales: 'Uint8Array',
    shift: 0,
  },
] as const;

const script = ({ format, policy, kernel, scales }: (typeof FORMATS)[number], input: Uint32Array): string => `
import { ${kernel} } from '/fast/wasm-codecs.js';
import { ${policy} } from '/format/${format}-policy.js';
import { BLOCK } from '/format/mxfp4.js';
import { UNIT } from '/format/hif4.js';
const quantize = ${kernel}(${policy}());
const words = Uint32Array.from(${JSON.stringify([...input])});
const scales = new ${scales}(words.length / (${format === 'hif4' ? 'UNIT' : 'BLOCK'}));
const codes = new Uint8Array(words.length / 2);
quantize?.(words, scales, codes);
const answer = { kernel: quantize !== undefined, scales: [...scales], codes: [...codes] };
document.getElementById('answer').textContent = JSON.stringify(answer);`;

/** Two codes a byte, the even element low. */
const bytesOf = (codes: string): number[] =>
  (codes.match(/../g) ?? []).map((pair) => Number.parseInt(pair[1]! + pair[0]!, 16));

test.each(FORMATS)('$format vectors in Chromium [HIF4-05, MX-04]', async (of) => {
  const tests = vectorFile<BlockTest>(of.file).groups[0]!.tests.filter((t) => t.expected !== undefined);
  const input = Uint32Array.from(
    tests.flatMap((t) => words(t.inputs['x']!)),
    (word) => word << of.shift,
  );
  const answer = await answerInChromium(script(of, input), compiled);
  expect(JSON.parse(answer)).toEqual({
    kernel: true,
    scales: tests.map((t) => Number.parseInt(t.expected!['scale']!, 16)),
    codes: tests.flatMap((t) => bytesOf(t.expected!['codes']!)),
  });
});
