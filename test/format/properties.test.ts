/** The properties of both encoders, few runs of each; test/exhaustive has the 10^5. */
import { describe, test } from 'vitest';
import { hif4Properties } from './hif4-properties.ts';
import { mxfp4Properties } from './mxfp4-properties.ts';

describe('HiF4', () => {
  for (const { name, check } of hif4Properties) test(name, () => check(400));
});

describe('MXFP4', () => {
  for (const { name, check } of mxfp4Properties) test(name, () => check(800));
});
