/**
 * Every layout, once. Clauses: spec/layouts.md LAY-02, LAY-12.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { blockLayouts } from './block-layouts.ts';
import type { Layout } from './layout.ts';
import { scaleTiles } from './scale-tiles.ts';

export const LAYOUTS: readonly Layout[] = [...blockLayouts, ...scaleTiles];

/**
 * LAY-12. The layout of a name, for a format.
 * @throws Fp4Error E_USAGE for a name that is no layout, and for a layout that does not take the format
 */
export function layoutByName(name: string, format: string): Layout {
  const found = LAYOUTS.find((layout) => layout.name === name);
  const fitting = LAYOUTS.filter((layout) => layout.formats.includes(format)).map((layout) => layout.name);
  if (!found) throw new Fp4Error('E_USAGE', `unknown layout "${name}"; ${knownNames(name, fitting)}`);
  if (found.formats.includes(format)) return found;
  const takes = `layout ${name} takes ${found.formats.join(', ')}, not ${format}`;
  throw new Fp4Error('E_USAGE', `${takes}; layouts for ${format}: ${fitting.join(', ') || 'none'}`);
}
