/** A page in headless Chromium, from a local server. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...[
    '--disable-background-networking',
    '--disable-component-update',
    '--virtual-time-budget=20000',
    '--dump-dom',
  ],
];

/**
 * What the script of a page leaves in the element `answer`.
 * @param script a module
 * @param fileAt the text of the module at a path, for the script to import
 */
export async function answerInChromium(script: string, fileAt: (path: string) => string): Promise<string> {
  const page = `<!doctype html><pre id="answer"></pre><script type="module">\n${script}\n</script>`;
  const server = createServer((request, response) => {
    const isScript = /\.m?js$/.test(request.url!);
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? fileAt(request.url!) : page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const profile = mkdtempSync(join(tmpdir(), 'fp4-chromium-'));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const args = [...FLAGS, `--user-data-dir=${profile}`, url];
    const { stdout } = await promisify(execFile)('chromium', args, { maxBuffer: 2 ** 26 });
    return /<pre id="answer">([^<]*)<\/pre>/.exec(stdout)?.[1] ?? '';
  } finally {
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
}
