/**
 * A WebAssembly module from its functions: one imported memory, every function exported.
 * Standard: WebAssembly Core Specification 2.0, 5.5 (modules).
 * @module
 */
import { type Code, flatten, name, sized, unsigned, VALUE_TYPES, vector } from './bytes.ts';
import type { WasmFunction } from './function.ts';

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 };
const FUNCTION_TYPE = 0x60;
const EXPORTED_FUNCTION = 0x00;
const IMPORTED_MEMORY = 0x02;
const NO_MAXIMUM = 0x00;

/** What a module imports: `env.memory`. */
export const MEMORY_IMPORT = { module: 'env', name: 'memory' } as const;

const section = (id: number, code: Code): Code => [id, sized(code)];

const typeOf = (f: WasmFunction): Code => [
  FUNCTION_TYPE,
  vector(f.parameters.map((type) => [VALUE_TYPES[type]])),
  vector(f.result === 'void' ? [] : [[VALUE_TYPES[f.result]]]),
];

/** The bytes of a module; its memory has at least `pages` pages of 64 KiB. */
export function assemble(functions: readonly WasmFunction[], pages = 1): Uint8Array<ArrayBuffer> {
  const memory: Code = [
    name(MEMORY_IMPORT.module),
    name(MEMORY_IMPORT.name),
    [IMPORTED_MEMORY, NO_MAXIMUM, unsigned(pages)],
  ];
  return Uint8Array.from(
    flatten([
      MAGIC_AND_VERSION,
      section(SECTION.type, vector(functions.map(typeOf))),
      section(SECTION.import, vector([memory])),
      section(SECTION.function, vector(functions.map((_, index) => unsigned(index)))),
      section(
        SECTION.export,
        vector(functions.map((f, index) => [name(f.name), EXPORTED_FUNCTION, unsigned(index)])),
      ),
      section(SECTION.code, vector(functions.map((f) => f.code))),
    ]),
  );
}
