/**
 * How often an acceptance catches one wrong code: `npm run build && node bench/catch.mjs`. Seeds are fixed; the table is docs/gemm.md's.
 * An output of a product is computed with one code of its row of A replaced by another; of those whose exact value changes, the
 * share outside each acceptance is counted (first table). One wrong code of A changes a whole row of the product: the second table
 * has the share of codes that put at least one of 64 outputs outside. Two backends: one that sums exactly and rounds once, one that adds products in FP32
 * in the order of K.
 */
import { readFileSync } from 'node:fs';
import { blockOperand, gemm, sortedTerms, truncatingModel, verdict } from '../dist/matmul/library.js';
import { familyByName, fillFamily } from '../dist/random/families.js';
import { quantizeTensor } from '../dist/tensor/quantize.js';

const SAMPLES = 2000;
let state = 2463534242;
const next = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
};

function npy(name) {
  const bytes = readFileSync(new URL(`../test/data/${name}`, import.meta.url));
  const start = 10 + bytes.readUInt16LE(8);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length));
}

function family(name, operand, rows, depth) {
  const words = new Uint32Array(rows * depth);
  fillFamily({ family: familyByName(name), seed: 1n, operand, type: 'f32', channels: depth }, 0, words);
  return new Float32Array(words.buffer);
}

const unit = (fractionBits) =>
  truncatingModel(
    JSON.stringify({ group: 32, fractionBits, outputFractionBits: Math.min(fractionBits, 23) }),
    'unit',
  );
const acceptances = [
  { kind: 'exact', name: 'exact' },
  { kind: 'fp32', name: 'bound:fp32' },
  { kind: 'truncating', name: 'bound: F = 25', model: unit(25) },
  { kind: 'truncating', name: 'bound: F = 13', model: unit(13) },
];

const inputs = [
  ['speech x lstm, K = 128', 128, npy('speech_activations_256x128.npy'), npy('lstm_weight_ih_512x128.npy')],
  ['gauss, K = 128', 128, family('gauss', 0, 64, 128), family('gauss', 1, 64, 128)],
  ['gauss, K = 4096', 4096, family('gauss', 0, 64, 4096), family('gauss', 1, 64, 4096)],
  [
    'outlier-element, K = 4096',
    4096,
    family('outlier-element', 0, 64, 4096),
    family('outlier-element', 1, 64, 4096),
  ],
];

const word = (x) => new Uint32Array(Float32Array.of(x).buffer)[0];

/** Products added in FP32 in the order of K. */
const inOrder = (a, b) =>
  word(
    sortedTerms(a, 0, b, 0)
      .sort((x, y) => x.k - y.k)
      .reduce((sum, { value }) => Math.fround(sum + value), 0),
  );

const rowOf = (tensor, format, row, depth) => {
  const block = format === 'hif4' ? 64 : 32;
  const bytes = format === 'hif4' ? 4 : 1;
  const groups = Math.ceil(depth / block);
  return {
    codes: tensor.codes.slice((row * groups * block) / 2, ((row + 1) * groups * block) / 2),
    scales: tensor.scales.slice(row * groups * bytes, (row + 1) * groups * bytes),
  };
};

const lines = [['format', 'inputs', 'backend', ...acceptances.map(({ name }) => name)]];
for (const format of ['hif4', 'mxfp4']) {
  for (const [name, depth, x, w] of inputs) {
    const [qa, qb] = [x, w].map(
      (v) => quantizeTensor(Float64Array.from(v), [v.length / depth, depth], 1, format).tensor,
    );
    const caught = { 'rounded once': [0, 0, 0, 0], 'FP32, order of K': [0, 0, 0, 0] };
    let changed = 0;
    const samples = depth > 1000 ? SAMPLES / 4 : SAMPLES;
    while (changed < samples) {
      const pa = rowOf(qa, format, next() % (x.length / depth), depth);
      const pb = rowOf(qb, format, next() % (w.length / depth), depth);
      const [a, b] = [pa, pb].map((p) => blockOperand(format, p, 1, depth));
      const k = next() % depth;
      const codes = pa.codes.slice();
      codes[k >> 1] ^= (1 + (next() % 15)) << (4 * (k & 1));
      const wrong = blockOperand(format, { codes, scales: pa.scales }, 1, depth);
      if (b.integers[k] === 0 || wrong.integers[k] === a.integers[k]) continue;
      changed++;
      for (const [backend, found] of [
        ['rounded once', gemm(wrong, b)[0]],
        ['FP32, order of K', inOrder(wrong, b)],
      ]) {
        const result = verdict({ a, b, found: Uint32Array.of(found), output: 'f32', acceptances });
        for (const [at, { outside }] of result.acceptances.entries()) caught[backend][at] += outside;
      }
    }
    for (const [backend, counts] of Object.entries(caught)) {
      lines.push([format, name, backend, ...counts.map((c) => `${((100 * c) / changed).toFixed(1)}%`)]);
    }
  }
}
for (const line of lines) console.log(`| ${line.join(' | ')} |`);

const ROW = 64;
const CODES = 200;
const rows = [['format', 'inputs', ...acceptances.map(({ name }) => name)]];
for (const format of ['hif4', 'mxfp4']) {
  for (const [name, depth, x, w] of inputs) {
    const [qa, qb] = [x, w].map(
      (v) => quantizeTensor(Float64Array.from(v), [v.length / depth, depth], 1, format).tensor,
    );
    const packed = [...Array(ROW).keys()].map((row) => rowOf(qb, format, row, depth));
    const joined = (key) => Uint8Array.from(packed.flatMap((p) => [...p[key]]));
    const b = blockOperand(format, { codes: joined('codes'), scales: joined('scales') }, ROW, depth);
    const caught = [0, 0, 0, 0];
    for (let done = 0; done < CODES; ) {
      const pa = rowOf(qa, format, next() % (x.length / depth), depth);
      const a = blockOperand(format, pa, 1, depth);
      const k = next() % depth;
      const codes = pa.codes.slice();
      codes[k >> 1] ^= (1 + (next() % 15)) << (4 * (k & 1));
      const wrong = blockOperand(format, { codes, scales: pa.scales }, 1, depth);
      if (wrong.integers[k] === a.integers[k]) continue;
      done++;
      const { acceptances: results } = verdict({ a, b, found: gemm(wrong, b), output: 'f32', acceptances });
      for (const [at, { outside }] of results.entries()) caught[at] += Number(outside > 0);
    }
    rows.push([format, name, ...caught.map((c) => `${((100 * c) / CODES).toFixed(1)}%`)]);
  }
}
console.log();
for (const line of rows) console.log(`| ${line.join(' | ')} |`);
