/** The tables of the specification against the data of the code: formats, codes, parameters, profiles. */
import { describe, expect, test } from 'vitest';
import { UNIT } from '../../src/format/hif4.ts';
import { hif4Parameters, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { BLOCK, SCALE_RULES } from '../../src/format/mxfp4.ts';
import { mxfp4Parameters, mxfp4Profiles } from '../../src/format/mxfp4-policy.ts';
import { NONFINITE } from '../../src/format/nonfinite.ts';
import { convert, e6m2_to_bf16_reciprocal, SCALARS, type ScalarName } from '../../src/format/scalar.ts';
import { placement } from '../../src/layout/convert.ts';
import { BLOCK_FORMATS, blockFormat, extentOf } from '../../src/layout/linear.ts';
import { LAYOUTS } from '../../src/layout/registry.ts';
import { codeBits, hexDigits } from '../../src/number/binary-format.ts';
import { fromNumber, scale } from '../../src/number/exact.ts';
import { BF16, FP16, FP32 } from '../../src/number/floats.ts';
import { TIES } from '../../src/number/round.ts';
import { hex, page, tables } from './page.ts';

const tableOf = (name: string, firstHeader: string, nth = 0): { header: string[]; rows: string[][] } =>
  tables(page(name)).filter(({ header }) => header[0] === firstHeader)[nth]!;

const column = (table: { rows: string[][] }, index: number): string[] => table.rows.map((row) => row[index]!);

const CONVERSION = { ties: 'even', overflow: 'nonfinite', nan: 'canonical' } as const;

describe('conventions.md', () => {
  test('the rounding rules [NUM-02]', () => {
    expect(column(tableOf('conventions.md', 'rule'), 0)).toEqual([...TIES]);
  });

  test('the records of the formats [NUM-03]', () => {
    const formats = [...Object.values(SCALARS), BF16, FP16, FP32];
    const records = formats.map((f) => [
      f.name,
      `${f.signBits}`,
      `${f.exponentBits}`,
      `${f.fractionBits}`,
      `${f.bias}`,
      f.subnormals ? 'yes' : 'no',
      f.top,
      f.canonicalNaN === undefined ? 'none' : hex(f.canonicalNaN, hexDigits(f)),
    ]);
    const { rows } = tableOf('conventions.md', 'format');
    const byName = (a: string[], b: string[]): number => (a[0]! < b[0]! ? -1 : 1);
    expect([...rows].sort(byName)).toEqual(records.sort(byName));
  });

  test('the digits of a word [CON-01]', () => {
    expect(Object.values(SCALARS).map(hexDigits)).toEqual([1, 1, 2, 2, 2, 2, 2, 2]);
    expect([BF16, FP16, FP32].map(hexDigits)).toEqual([4, 4, 8]);
  });

  test('the rules for NaN and infinity [CON-05]', () => {
    expect(column(tableOf('conventions.md', 'nonfinite'), 0)).toEqual(Object.keys(NONFINITE));
  });

  test('the rules for the sign of zero [CON-06]', () => {
    const values = column(tableOf('conventions.md', 'zero-sign'), 0);
    expect(values).toEqual([...hif4Parameters['zero-sign']]);
    expect(values).toEqual([...mxfp4Parameters['zero-sign']]);
  });
});

describe('scalars.md', () => {
  const clauses: Record<ScalarName, string> = {
    e2m1: 'SCA-01',
    e1m2: 'SCA-02',
    e6m2: 'SCA-03',
    e8m0: 'SCA-05',
    e4m3: 'SCA-06',
    e5m2: 'SCA-07',
    e4m3fnuz: 'SCA-08',
    e5m2fnuz: 'SCA-08',
  };
  const names = Object.keys(SCALARS) as ScalarName[];

  test.each(names.map((name) => [name, clauses[name]] as const))('%s: codes and values [%s]', (name) => {
    const format = SCALARS[name];
    const { header, rows } = tableOf('scalars.md', `${name.toUpperCase()} code`);
    const fp32 = header.indexOf('FP32');
    expect(rows.length).toBeGreaterThan(7);
    for (const [code, ...rest] of rows) {
      const word = rest[fp32 - 1]!;
      expect(hex(convert(format, FP32, Number.parseInt(code!, 16), CONVERSION), 8)).toBe(word);
      if (word === '7fc00000') continue;
      expect(hex(convert(FP32, format, Number.parseInt(word, 16), CONVERSION), hexDigits(format))).toBe(code);
    }
  });

  test('fields and decimals of the 4-bit elements [SCA-01, SCA-02]', () => {
    for (const name of ['E2M1', 'E1M2']) {
      const { rows } = tableOf('scalars.md', `${name} code`);
      expect(rows.length).toBe(16);
      for (const [code, fields, value, fp32] of rows) {
        expect(Number.parseInt(fields!.replaceAll(' ', ''), 2)).toBe(Number.parseInt(code!, 16));
        const view = new DataView(new ArrayBuffer(4));
        view.setFloat32(0, Number(value));
        expect(hex(view.getUint32(0), 8)).toBe(fp32);
      }
    }
  });

  test('the reciprocals: listed, and by the formula for every code [SCA-04]', () => {
    const { rows } = tableOf('scalars.md', 'E6M2 code', 1);
    expect(rows.length).toBe(10);
    for (const [code, word] of rows) {
      expect(hex(e6m2_to_bf16_reciprocal(Number.parseInt(code!, 16)), 4)).toBe(word);
    }
    const T = [0x3f80, 0x3f4d, 0x3f2b, 0x3f12];
    for (let c = 0; c < 0xff; c++) {
      expect(e6m2_to_bf16_reciprocal(c)).toBe(T[c % 4]! + 0x80 * (48 - Math.floor(c / 4)));
    }
  });

  test('what special values give by default [SCA-09]', () => {
    const { rows } = tableOf('scalars.md', 'into');
    // NaN, the infinities, FP32's largest finite numbers, -0
    const inputs = [0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x80000000];
    for (const [name, ...given] of rows) {
      const format = name === 'bf16' ? BF16 : SCALARS[name as ScalarName];
      const policy = { ...CONVERSION, overflow: name === 'bf16' ? 'nonfinite' : 'saturate' } as const;
      const [positive, negative] = given[3]!.split(/, or | or /).map((text) => text.split(' ')[0]!);
      const expected = [...given.slice(0, 3), positive, negative, given[4]];
      const digits = Math.ceil(codeBits(format) / 4);
      expect(inputs.map((word) => hex(convert(FP32, format, word, policy), digits))).toEqual(expected);
    }
    expect(rows.length).toBe(9);
  });

  test('the NaNs whose payload is kept [NUM-07]', () => {
    const payload = { ...CONVERSION, nan: 'payload' } as const;
    expect(convert(FP32, BF16, 0xff812345, payload)).toBe(0xffc1);
    expect(convert(BF16, FP32, 0x7f81, payload)).toBe(0x7fc10000);
  });
});

describe('mxfp4.md', () => {
  // 1.06066 < 3 / 2^1.5 < 1.06067
  const inside = [[1], [1 + 2 ** -20, 1.06066], [1.06067, 1.5], [1.5 + 2 ** -20, 1.7499], [1.75, 1.9999]];

  test('the exponent by the significand of amax [MX-05, MX-06, MX-07, MX-08, MX-09]', () => {
    const { header, rows } = tableOf('mxfp4.md', 'm in');
    expect(rows.length).toBe(inside.length);
    rows.forEach(([, ...given], i) => {
      for (const m of inside[i]!) {
        for (const E of [-140, 0, 5]) {
          const amax = scale(fromNumber(m), E);
          const found = header.slice(1).map((rule) => SCALE_RULES[rule as keyof typeof SCALE_RULES](amax));
          expect(found).toEqual(given.map((text) => E - Number(text.replace('E - ', ''))));
        }
      }
    });
  });
});

describe('parameters and profiles', () => {
  const parameterRows = (name: string): Record<string, string[]> =>
    Object.fromEntries(tableOf(name, 'parameter').rows.map(([key, values]) => [key, values!.split(' ')]));

  test('HiF4 parameters, defaults first [HIF4-20, CON-02]', () => {
    expect(parameterRows('hif4.md')).toEqual(hif4Parameters);
  });

  test('MXFP4 parameters, defaults first [MX-20, CON-02]', () => {
    expect(parameterRows('mxfp4.md')).toEqual(mxfp4Parameters);
  });

  const profileRows = (clause: string): Record<string, Record<string, string>> => {
    const { header, rows } = tables(page('profiles.md').split(`**${clause}.**`)[1]!)[0]!;
    return Object.fromEntries(
      rows.map(([name, ...values]) => [name, Object.fromEntries(values.map((v, i) => [header[i + 1], v]))]),
    );
  };

  test('HiF4 profiles, in order [PRO-01]', () => {
    const rows = profileRows('PRO-01');
    expect(Object.entries(rows)).toEqual(hif4Profiles.map((p) => [p.name, p.policy]));
  });

  test('MXFP4 profiles, in order [PRO-02]', () => {
    const rows = profileRows('PRO-02');
    expect(Object.entries(rows)).toEqual(mxfp4Profiles.map((p) => [p.name, p.policy]));
  });
});

describe('layouts.md', () => {
  const table = tableOf('layouts.md', 'layout');

  test('the layouts: formats, arrays, padding, clauses [LAY-02]', () => {
    const records = LAYOUTS.map((layout) => {
      const format = blockFormat(layout.formats[0]!);
      const { arrays } = placement(layout, format, extentOf(format, [1, 1]));
      return [
        layout.name,
        layout.formats.join(', '),
        arrays.map(({ name }) => name).join(', '),
        layout.padding.rule,
        layout.padding.rule === 'none' ? 'none' : hex(layout.padding.byte, 2),
        layout.clause,
      ];
    });
    expect(table.rows).toEqual(records);
  });

  test('the formats are those of the blocks [LAY-01]', () => {
    expect(BLOCK_FORMATS.map((f) => [f.name, f.elements, f.scaleBytes])).toEqual([
      ['hif4', UNIT, 4],
      ['mxfp4', BLOCK, 1],
    ]);
  });
});
