/** The bundle in a real browser: headless Chromium loads it from a local server and answers stream lines. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bundle } from '../bundle/build.ts';
import { fp4 } from '../cli/fp4.ts';
import { answerInChromium } from './chromium.ts';

const script = (name: string, inputs: string): string => `
import { evaluateText } from '/fp4.mjs';
document.getElementById('answer').textContent = evaluateText('${name}', ${JSON.stringify(inputs)}, { stages: true });`;

test.each(['hif4_quantize', 'hif4_dequantize', 'mxfp4_quantize_f32', 'mxfp4_dequantize', 'f32_to_e4m3'])(
  '%s in Chromium gives the bytes of the command [STR-06]',
  async (name) => {
    const file = await bundle();
    const inputs = (await fp4(['gen', name, '-n', '200', '--inputs-only'])).out;
    const expected = (await fp4(['eval', name, '--stages'], inputs)).out;
    const answer = await answerInChromium(script(name, inputs), () => readFileSync(file, 'utf8'));
    expect(answer).toBe(expected);
  },
);
