/** The properties of both encoders, 10^5 runs each. */
import { describe, test } from 'vitest';
import { hif4Properties } from '../format/hif4-properties.ts';
import { mxfp4Properties } from '../format/mxfp4-properties.ts';

describe('HiF4', () => {
  for (const { name, check } of hif4Properties) test(name, () => check(100_000));
});

describe('MXFP4', () => {
  for (const { name, check } of mxfp4Properties) test(name, () => check(100_000));
});
