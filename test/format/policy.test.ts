/** Profiles and overrides [CON-02]. */
import { describe, expect, test } from 'vitest';
import { hif4Parameters, hif4Policy, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters, mxfp4Policy, mxfp4Profiles } from '../../src/format/mxfp4-policy.ts';

describe('resolving a policy [CON-02]', () => {
  test('the defaults are those the contract states', () => {
    expect(hif4Policy()).toEqual({
      ...{ input: 'bf16', sf: 'bf16', 'e6m2-ties': 'even', 'e6m2-range': 'clamp', reciprocal: 'bf16' },
      ...{ products: 'exact', ties: 'away', 'zero-sign': 'keep', nonfinite: 'nan' },
    });
    expect(mxfp4Policy()).toEqual({
      ...{ input: 'f32', scale: 'floor', ties: 'even', 'zero-scale': '00', 'scale-range': 'clamp' },
      ...{
        'scale-min': '00',
        'even-range': 'unbounded',
        'nan-code': '0',
        'zero-sign': 'keep',
        nonfinite: 'nan',
      },
    });
    expect(hif4Policy('authors')).toEqual(hif4Policy());
    expect(mxfp4Policy('ocp')).toEqual(mxfp4Policy());
  });

  test('ascend is products=bf16, ties=even; an override changes one parameter', () => {
    expect(hif4Policy('ascend')).toEqual({ ...hif4Policy(), products: 'bf16', ties: 'even' });
    expect(hif4Policy('ascend', { ties: 'away' })).toEqual({ ...hif4Policy(), products: 'bf16' });
    expect(mxfp4Policy(undefined, { scale: 'rceil' })).toEqual({ ...mxfp4Policy(), scale: 'rceil' });
  });

  test('every profile names each parameter once, with a value that exists, and a source', () => {
    for (const [table, profiles] of [
      [hif4Parameters, hif4Profiles],
      [mxfp4Parameters, mxfp4Profiles],
    ] as const) {
      expect(new Set(profiles.map((p) => p.name)).size).toBe(profiles.length);
      for (const { policy, source } of profiles) {
        expect(Object.keys(policy).sort()).toEqual(Object.keys(table).sort());
        for (const [name, values] of Object.entries(table)) {
          expect(values).toContain((policy as Record<string, string>)[name]);
        }
        expect(source).not.toBe('');
      }
    }
  });

  test.each([
    [() => hif4Policy('ascent'), 'E_PROFILE', /"ascent".*did you mean "ascend"/],
    [() => mxfp4Policy('torchao-rciel'), 'E_PROFILE', /did you mean "torchao-rceil"/],
    [() => hif4Policy('authors', { tie: 'even' }), 'E_PARAMETER', /"tie".*did you mean "ties"/],
    [() => mxfp4Policy('ocp', { scale: 'flor' }), 'E_PARAMETER', /scale="flor".*did you mean "floor"/],
    [() => mxfp4Policy('ocp', { constructor: 'x' }), 'E_PARAMETER', /unknown parameter "constructor"/],
  ])('what does not exist is refused with the nearest names: %#', (resolve, code, message) => {
    expect(resolve).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });
});
