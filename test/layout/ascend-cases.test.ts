/** The layouts of Ascend's cube unit against the bytes that PTO ISA's golden generators gave. */
import { describe, expect, test } from 'vitest';
import { readLayout, writeLayout } from '../../src/layout/convert.ts';
import { blockFormat, extentOf } from '../../src/layout/linear.ts';
import { layoutByName } from '../../src/layout/registry.ts';
import { bytes, cases, hex, hif4Cases, hif4Linear, mxCases, mxLinear } from './ascend-cases.ts';

test('there are two HiF4 matrices and an MX one', () => {
  expect(cases.map((c) => [c['name'], c.rows, c.cols])).toEqual([
    ['a16x64', 16, 64],
    ['a16x128', 16, 128],
    ['mx_a16x128', 16, 128],
  ]);
  expect([hif4Cases.length, mxCases.length]).toEqual([2, 1]);
});

describe.each(hif4Cases)('$name', (c) => {
  const format = blockFormat('hif4');
  const linear = hif4Linear(c);
  const a = extentOf(format, [c.rows, c.cols]);
  // B is K x N and the transpose of A: quantized along its axis 0, so a row of the linear form is a column of B.
  const b = extentOf(format, [c.cols, c.rows], 0);

  test.each([
    ['hif4-a-zz', 'HIF4_A_ZZ', 'LAY-08'],
    ['hif4-exp-dst', 'exp_dst', 'LAY-09'],
  ])('%s gives %s and reads it [%s]', (name, field) => {
    const layout = layoutByName(name, 'hif4');
    const stored = writeLayout(layout, format, a, linear);
    expect(hex(stored['scales']!)).toBe(c[field]);
    expect(hex(stored['codes']!)).toBe(c['fp4']);
    expect(readLayout(layout, format, a, { codes: linear.codes, scales: bytes(c[field]!) })).toEqual(linear);
  });

  test('hif4-b-nn with pairs along N gives HIF4_B_NN and B_data_KxN and reads them [LAY-08] [LAY-11]', () => {
    const layout = layoutByName('hif4-b-nn', 'hif4');
    const stored = writeLayout(layout, format, b, linear, 1);
    expect(hex(stored['scales']!)).toBe(c['HIF4_B_NN']);
    expect(hex(stored['codes']!)).toBe(c['B_data_KxN']);
    const given = { codes: bytes(c['B_data_KxN']!), scales: bytes(c['HIF4_B_NN']!) };
    expect(readLayout(layout, format, b, given, 1)).toEqual(linear);
  });
});

describe.each(mxCases)('$name', (c) => {
  const format = blockFormat('mxfp4');
  const linear = mxLinear(c);
  const a = extentOf(format, [c.rows, c.cols]);
  const b = extentOf(format, [c.cols, c.rows], 0);

  test('mx-a-zz gives MX_A_ZZ and reads it [LAY-10]', () => {
    const layout = layoutByName('mx-a-zz', 'mxfp4');
    const stored = writeLayout(layout, format, a, linear);
    expect(hex(stored['scales']!)).toBe(c['MX_A_ZZ']);
    expect(hex(stored['codes']!)).toBe(c['codes_packed']);
    const given = { codes: linear.codes, scales: bytes(c['MX_A_ZZ']!) };
    expect(readLayout(layout, format, a, given)).toEqual(linear);
  });

  test('mx-b-nn with pairs along N gives MX_B_NN and B_codes_packed_KxN and reads them [LAY-10] [LAY-11]', () => {
    const layout = layoutByName('mx-b-nn', 'mxfp4');
    const stored = writeLayout(layout, format, b, linear, 1);
    expect(hex(stored['scales']!)).toBe(c['MX_B_NN']);
    expect(hex(stored['codes']!)).toBe(c['B_codes_packed_KxN']);
    const given = { codes: bytes(c['B_codes_packed_KxN']!), scales: bytes(c['MX_B_NN']!) };
    expect(readLayout(layout, format, b, given, 1)).toEqual(linear);
  });

  test('what mx-b-nn reads are the scales of B_e8m0_KxN, column by column [LAY-10]', () => {
    const { scales } = readLayout(layoutByName('mx-b-nn', 'mxfp4'), format, b, {
      codes: linear.codes,
      scales: bytes(c['MX_B_NN']!),
    });
    const byBlock = bytes(c['B_e8m0_KxN']!);
    const columns = Array.from({ length: c.rows }, (_, n) =>
      Array.from({ length: c.cols / 32 }, (_, k) => byBlock[k * c.rows + n]!),
    );
    expect([...scales]).toEqual(columns.flat());
  });
});
