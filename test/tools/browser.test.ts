/** The bundle in a real browser: headless Chromium loads it from a local server and answers stream lines. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundle } from '../bundle/build.ts';
import { fp4 } from '../cli/fp4.ts';

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...[
    '--disable-background-networking',
    '--disable-component-update',
    '--virtual-time-budget=20000',
    '--dump-dom',
  ],
];

const page = (
  name: string,
  inputs: string,
): string => `<!doctype html><pre id="answer"></pre><script type="module">
import { evaluateText } from '/fp4.mjs';
document.getElementById('answer').textContent = evaluateText('${name}', ${JSON.stringify(inputs)}, { stages: true });
</script>`;

test.each(['hif4_quantize', 'hif4_dequantize', 'mxfp4_quantize_f32', 'mxfp4_dequantize', 'f32_to_e4m3'])(
  '%s in Chromium gives the bytes of the command [STR-06]',
  async (name) => {
    const file = await bundle();
    const inputs = (await fp4(['gen', name, '-n', '200', '--inputs-only'])).out;
    const expected = (await fp4(['eval', name, '--stages'], inputs)).out;
    const server = createServer((request, response) => {
      const script = request.url === '/fp4.mjs';
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
      response.end(script ? readFileSync(file) : page(name, inputs));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const profile = mkdtempSync(join(tmpdir(), 'fp4-chromium-'));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const { stdout } = await promisify(execFile)(
        'chromium',
        [...FLAGS, `--user-data-dir=${profile}`, url],
        {
          maxBuffer: 2 ** 26,
        },
      );
      expect(/<pre id="answer">([^<]*)<\/pre>/.exec(stdout)?.[1]).toBe(expected);
    } finally {
      server.close();
      rmSync(profile, { recursive: true, force: true });
    }
  },
);
