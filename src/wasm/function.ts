/**
 * The body of a WebAssembly function, written statement by statement as a kernel is read.
 * Standard: WebAssembly Core Specification 2.0, 5.4.1 (control) and 5.5.13 (code section).
 * @module
 */
import { type Code, sized, unsigned, VALUE_TYPES, type ValueType, vector } from './bytes.ts';
import { constant, type Expr, i32, type Operand } from './instructions.ts';
import { STRUCTURE } from './opcodes.ts';

/** A named value that can be set again; as an expression it is its value at that moment. */
export interface Local<T extends ValueType> extends Expr<T> {
  readonly index: number;
}

type Parameters = { readonly [name: string]: ValueType };

/** A finished function. */
export interface WasmFunction {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | 'void';
  /** Its entry of the code section. */
  readonly code: Code;
}

const NO_RESULT = 0x40;
const expression = (value: Operand<'i32'>): Expr<'i32'> =>
  typeof value === 'number' ? constant(value) : value;

/** Takes the statements of one function in order. */
export class Body {
  readonly #parameters: number;
  readonly #locals: ValueType[] = [];
  #statements: Code[] = [];

  constructor(parameters: number) {
    this.#parameters = parameters;
  }

  /** A new local that begins with a value. */
  let<T extends ValueType>(value: Expr<T>): Local<T> {
    const index = this.#parameters + this.#locals.length;
    this.#locals.push(value.type);
    const local = { type: value.type, index, code: [STRUCTURE['local.get'], unsigned(index)] };
    this.#put(index, value.code);
    return local;
  }

  set<T extends ValueType>(local: Local<T>, value: Operand<T>): void {
    this.#put(local.index, typeof value === 'number' ? constant(value).code : value.code);
  }

  #put(index: number, code: Code): void {
    this.#statements.push([code, STRUCTURE['local.set'], unsigned(index)]);
  }

  /** An instruction for its effect: a store. */
  do(effect: Expr<'void'>): void {
    this.#statements.push(effect.code);
  }

  return(value?: Operand<ValueType>): void {
    const code = value === undefined ? [] : typeof value === 'number' ? constant(value).code : value.code;
    this.#statements.push([code, STRUCTURE.return]);
  }

  if(condition: Operand<'i32'>, then: () => void, otherwise?: () => void): void {
    const branches = [this.#collect(then)];
    if (otherwise) branches.push([STRUCTURE.else, this.#collect(otherwise)]);
    const { code } = expression(condition);
    this.#statements.push([code, STRUCTURE.if, NO_RESULT, branches, STRUCTURE.end]);
  }

  /** Again and again while the condition, tested first, is not 0. */
  while(condition: Expr<'i32'>, body: () => void): void {
    const { block, loop, br, br_if, end } = STRUCTURE;
    const leave: Code = [i32.eqz(condition).code, br_if, 1];
    this.#statements.push([
      [block, NO_RESULT, loop, NO_RESULT],
      leave,
      [this.#collect(body), br, 0, end, end],
    ]);
  }

  /** For the local from its value now, by `step`, while it is below `limit` (unsigned). */
  count(local: Local<'i32'>, limit: Operand<'i32'>, step: number, body: () => void): void {
    this.while(i32.lt_u(local, limit), () => {
      body();
      this.set(local, i32.add(local, step));
    });
  }

  #collect(body: () => void): Code {
    const outer = this.#statements;
    const inner: Code[] = [];
    this.#statements = inner;
    body();
    this.#statements = outer;
    return inner;
  }

  /** The function's entry of the code section; one with a result has to return before its end. */
  finish(result: ValueType | 'void'): Code {
    const runs = this.#locals.map((type) => [1, VALUE_TYPES[type]]);
    const end = result === 'void' ? [STRUCTURE.end] : [STRUCTURE.unreachable, STRUCTURE.end];
    return sized([vector(runs), this.#statements, end]);
  }
}

/**
 * A function of a module.
 * @param write takes the body and the parameters by name, and writes the statements
 */
export function wasmFunction<P extends Parameters>(
  name: string,
  parameters: P,
  result: ValueType | 'void',
  write: (body: Body, parameters: { readonly [K in keyof P]: Local<P[K]> }) => void,
): WasmFunction {
  const types = Object.values(parameters);
  const locals = Object.fromEntries(
    Object.entries(parameters).map(([key, type], index) => [
      key,
      { type, index, code: [STRUCTURE['local.get'], unsigned(index)] },
    ]),
  ) as unknown as { readonly [K in keyof P]: Local<P[K]> };
  const body = new Body(types.length);
  write(body, locals);
  return { name, parameters: types, result, code: body.finish(result) };
}
