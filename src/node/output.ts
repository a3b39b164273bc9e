/**
 * Writing to a stream in large pieces, at the pace of whoever reads it.
 * @module
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';

const PIECE = 1 << 16;

/** Collects text or bytes and writes them in pieces; `flush` must be awaited at the end. */
export class Output {
  readonly #stream: Writable;
  #text: string[] = [];
  #bytes: Uint8Array[] = [];
  #size = 0;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** True when enough has been collected that the caller should await `flush`. */
  get full(): boolean {
    return this.#size >= PIECE;
  }

  line(text: string): void {
    this.#text.push(text);
    this.#size += text.length + 1;
  }

  bytes(record: Uint8Array): void {
    this.#bytes.push(record);
    this.#size += record.length;
  }

  async flush(): Promise<void> {
    if (this.#size === 0) return;
    const piece = this.#bytes.length > 0 ? Buffer.concat(this.#bytes) : `${this.#text.join('\n')}\n`;
    this.#text = [];
    this.#bytes = [];
    this.#size = 0;
    if (!this.#stream.write(piece)) await once(this.#stream, 'drain');
  }
}
