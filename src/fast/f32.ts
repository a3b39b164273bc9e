/**
 * The bits of FP32 numbers as words, without copying. Browsers and Node agree on them whatever the machine's byte order.
 * @module
 */

/** The FP32 words of an array of FP32 numbers. */
export const wordsOf = (values: Float32Array): Uint32Array =>
  new Uint32Array(values.buffer, values.byteOffset, values.length);

/** The FP32 numbers of an array of FP32 words. */
export const valuesOf = (words: Uint32Array): Float32Array =>
  new Float32Array(words.buffer, words.byteOffset, words.length);
