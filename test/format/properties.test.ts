/** The properties of both encoders, few runs of each; test/exhaustive has the 10^5. */
import { describe, test } from 'vitest';
import { hif4Properties } from './hif4-properties.ts';
import { mxfp4Properties } from './mxfp4-properties.ts';

describe('HiF4', () => {
  test.each(hif4Properties)('$name', ({ check }) => check(400));
});

describe('MXFP4', () => {
  test.each(mxfp4Properties)('$name', ({ check }) => check(800));
});
