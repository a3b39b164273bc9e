/** What is refused, and with which message. */
import { describe, expect, test } from 'vitest';
import { placement, readLayout, writeLayout } from '../../src/layout/convert.ts';
import { blockFormat, extentOf } from '../../src/layout/linear.ts';
import { LAYOUTS, layoutByName } from '../../src/layout/registry.ts';

const mxfp4 = blockFormat('mxfp4');
const hif4 = blockFormat('hif4');
const refusal = (code: string, message: string) =>
  expect.objectContaining({ name: 'Fp4Error', code, message });

const thrown = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return 'nothing thrown';
};

describe('lengths', () => {
  const extent = extentOf(mxfp4, [3, 40]);
  const codes = new Uint8Array(96);
  const scales = new Uint8Array(6);

  test.each([95, 97, 0])('linear codes of %d bytes [LAY-12]', (length) => {
    expect(
      thrown(() =>
        writeLayout(layoutByName('ggml', 'mxfp4'), mxfp4, extent, { codes: new Uint8Array(length), scales }),
      ),
    ).toEqual(
      refusal(
        'E_LENGTH',
        `layout ggml: linear codes has ${length} bytes; expected 96, for 3 rows of 2 mxfp4 blocks`,
      ),
    );
  });

  test('linear scales of the wrong length: HiF4 has four bytes a unit [LAY-12]', () => {
    const units = extentOf(hif4, [3, 40]);
    expect(
      thrown(() =>
        writeLayout(layoutByName('linear', 'hif4'), hif4, units, { codes, scales: new Uint8Array(3) }),
      ),
    ).toEqual(
      refusal(
        'E_LENGTH',
        'layout linear: linear scales has 3 bytes; expected 12, for 3 rows of 1 hif4 blocks',
      ),
    );
  });

  test('stored scales without their padding (fault L5) [LAY-12] [LAY-07]', () => {
    expect(
      thrown(() => readLayout(layoutByName('nv-128x4', 'mxfp4'), mxfp4, extent, { codes, scales })),
    ).toEqual(refusal('E_LENGTH', 'layout nv-128x4: scales has 6 bytes; expected 512, U8 [1, 1, 32, 4, 4]'));
  });

  test.each(LAYOUTS)('$name: each array one byte longer or shorter [LAY-12]', (layout) => {
    const format = blockFormat(layout.formats[0]!);
    const three = extentOf(format, [3, 130]);
    const stored = writeLayout(layout, format, three, {
      codes: new Uint8Array((3 * three.blocks * format.elements) / 2),
      scales: new Uint8Array(3 * three.blocks * format.scaleBytes),
    });
    for (const [name, array] of Object.entries(stored)) {
      for (const length of [array.length - 1, array.length + 1]) {
        const wrong = { ...stored, [name]: new Uint8Array(length) };
        expect(thrown(() => readLayout(layout, format, three, wrong))).toMatchObject({
          name: 'Fp4Error',
          code: 'E_LENGTH',
          message: expect.stringContaining(`${name} has ${length} bytes; expected ${array.length}, `),
        });
      }
    }
  });
});

describe('names', () => {
  test('a layout that does not take the format names those that do [LAY-12]', () => {
    expect(thrown(() => layoutByName('ggml', 'hif4'))).toEqual(
      refusal(
        'E_USAGE',
        'layout ggml takes mxfp4, not hif4; layouts for hif4: linear, high-first, hif4-unit36, hif4-a-zz, hif4-b-nn, hif4-exp-dst',
      ),
    );
    expect(thrown(() => layoutByName('hif4-a-zz', 'mxfp4'))).toEqual(
      refusal(
        'E_USAGE',
        'layout hif4-a-zz takes hif4, not mxfp4; layouts for mxfp4: linear, high-first, ggml, gpt-oss, nv-128x4, mx-a-zz, mx-b-nn',
      ),
    );
    expect(thrown(() => placement(layoutByName('ggml', 'mxfp4'), hif4, extentOf(hif4, [64])))).toEqual(
      refusal('E_USAGE', 'layout ggml takes mxfp4, not hif4'),
    );
  });

  test('a layout or format that does not exist [LAY-12]', () => {
    expect(thrown(() => layoutByName('gml', 'mxfp4'))).toEqual(
      refusal(
        'E_USAGE',
        'unknown layout "gml"; did you mean "ggml"? known: linear, high-first, ggml, gpt-oss, nv-128x4, mx-a-zz, mx-b-nn',
      ),
    );
    expect(thrown(() => blockFormat('mxfp'))).toEqual(
      refusal('E_USAGE', 'unknown format "mxfp"; did you mean "mxfp4"? known: hif4, mxfp4'),
    );
  });

  test('a missing array [LAY-12]', () => {
    const layout = layoutByName('gpt-oss', 'mxfp4');
    expect(
      thrown(() => readLayout(layout, mxfp4, extentOf(mxfp4, [32]), { _blocks: new Uint8Array(16) })),
    ).toEqual(refusal('E_USAGE', 'layout gpt-oss: no array "_scales"; expected _blocks, _scales'));
  });
});

describe('shapes and axes', () => {
  test.each(['ggml', 'gpt-oss'])('%s takes no pack axis [LAY-11]', (name) => {
    expect(
      thrown(() => placement(layoutByName(name, 'mxfp4'), mxfp4, extentOf(mxfp4, [32, 2], 0), 1)),
    ).toEqual(refusal('E_USAGE', `layout ${name} orders the codes itself; it takes no pack axis`));
  });

  test.each([2, -1, 0.5])('pack axis %d of a matrix [LAY-11]', (packAxis) => {
    const layout = layoutByName('linear', 'mxfp4');
    expect(thrown(() => placement(layout, mxfp4, extentOf(mxfp4, [32, 2], 0), packAxis))).toEqual(
      refusal('E_SHAPE', `no pack axis ${packAxis}; expected one from 0 to 1`),
    );
  });

  test.each([
    [[], 0, 'shape [] has no axis 0; expected at least one dimension'],
    [[3, 4], 2, 'shape [3, 4] has no axis 2; expected an axis from 0 to 1'],
    [[3, 4], -1, 'shape [3, 4] has no axis -1; expected an axis from 0 to 1'],
    [[3, -4], 1, 'shape [3, -4]: a dimension is an integer that is not negative'],
    [[3, 4.5], 1, 'shape [3, 4.5]: a dimension is an integer that is not negative'],
  ])('shape %j, axis %d [LAY-01]', (shape, axis, message) => {
    expect(thrown(() => extentOf(mxfp4, shape, axis))).toEqual(refusal('E_SHAPE', message));
  });
});
