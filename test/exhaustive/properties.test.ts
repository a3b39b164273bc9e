/** The properties of both encoders, 10^5 runs each. */
import { describe, test } from 'vitest';
import { hif4Properties } from '../format/hif4-properties.ts';
import { mxfp4Properties } from '../format/mxfp4-properties.ts';

describe('HiF4', () => {
  test.each(hif4Properties)('$name', ({ check }) => check(100_000));
});

describe('MXFP4', () => {
  test.each(mxfp4Properties)('$name', ({ check }) => check(100_000));
});
