/**
 * GRPO steps from one file to another: .json, .jsonl or .safetensors. Clauses: spec/grpo.md GRP-18, GRP-19, GRP-20.
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { Fp4Error } from '../error.ts';
import { ELEMENT_BYTES, type ElementName } from '../files/element-type.ts';
import { numbersOf } from '../files/number-tensor.ts';
import { buildSafetensorsHeader } from '../files/safetensors.ts';
import { refuseStrange, runStep } from '../grpo/step.ts';
import { parseStep, type Step } from '../grpo/step-record.ts';
import { formatLoss, formatStepResult } from '../grpo/step-result.ts';
import {
  type NamedTensor,
  type NumberTensor,
  STEP_TENSORS,
  stepOfTensors,
  type TensorStep,
  tensorsOfResult,
} from '../grpo/step-tensors.ts';
import { VERSION } from '../version.ts';
import { jsonFile, jsonLines } from './json-lines.ts';
import { writeWhole } from './output-file.ts';
import { readSafetensorsHeader, withInput } from './tensor-file.ts';

type StepKind = 'json' | 'jsonl' | 'safetensors';

/** The kind a file's name says it is. */
function stepKind(path: string): StepKind {
  const kind = /\.(json|jsonl|safetensors)$/.exec(path)?.[1];
  if (kind === undefined)
    throw new Fp4Error('E_USAGE', `${path}: expected a name ending in .json, .jsonl or .safetensors`);
  return kind as StepKind;
}

function tensorStep(path: string): Promise<TensorStep> {
  return withInput(path, (file) => {
    const header = readSafetensorsHeader(file);
    const tensors = new Map<string, NumberTensor>();
    for (const name of STEP_TENSORS) {
      const entry = header.tensors.get(name);
      if (entry === undefined) continue;
      const bytes = file.read(entry.offset, entry.bytes);
      const data = numbersOf(entry.dtype, bytes, `${path}: tensor ${JSON.stringify(name)}`);
      tensors.set(name, { shape: entry.shape, data });
    }
    return stepOfTensors(tensors, header.metadata, `${path}: `);
  });
}

/** GRP-18, GRP-19. Every step of a file, one after the other. */
export async function* readSteps(path: string): AsyncGenerator<Step> {
  const kind = stepKind(path);
  if (kind === 'safetensors') {
    yield parseStep((await tensorStep(path)).value, `${path}: `);
    return;
  }
  const lines = kind === 'json' ? [jsonFile(path)] : jsonLines(path);
  for (const { place, value } of lines) yield parseStep(value, `${place}: `);
}

export interface GrpoJob {
  readonly input: string;
  readonly output: string;
  /** GRP-20. */
  readonly strict: boolean;
  /** Is told what is strange about the data, before the step is taken. */
  readonly onWarnings: (step: Step) => void;
}

function admit(step: Step, { strict, onWarnings }: GrpoJob): void {
  if (strict) refuseStrange(step);
  if (step.warnings.length > 0) onWarnings(step);
}

/**
 * Takes every step of the input; the output is of the same kind.
 * @returns how many steps
 * @throws Fp4Error; then nothing is written
 */
export async function grpoFile(job: GrpoJob): Promise<number> {
  const kind = stepKind(job.input);
  if (stepKind(job.output) !== kind)
    throw new Fp4Error('E_USAGE', `${job.output}: expected a name ending in .${kind}, as the input has it`);
  if (kind === 'safetensors') return tensorsFile(job);
  return writeWhole(job.output, async (file) => {
    let steps = 0;
    let offset = 0;
    for await (const step of readSteps(job.input)) {
      admit(step, job);
      const bytes = Buffer.from(`${formatStepResult(runStep(step))}\n`);
      file.write(bytes, offset);
      offset += bytes.length;
      steps++;
      await setImmediate(); // lets a signal through
    }
    return steps;
  });
}

const TYPES: Readonly<Record<string, ElementName>> = { float64: 'F64', float32: 'F32' };

function bytesOf(data: Float64Array, type: ElementName): Uint8Array {
  const bytes = new Uint8Array(data.length * ELEMENT_BYTES[type]);
  const view = new DataView(bytes.buffer);
  data.forEach((x, i) => {
    if (type === 'F64') view.setFloat64(8 * i, x, true);
    else if (type === 'F32') view.setFloat32(4 * i, x, true);
    else view.setUint8(i, x);
  });
  return bytes;
}

async function tensorsFile(job: GrpoJob): Promise<number> {
  const source = await tensorStep(job.input);
  const step = parseStep(source.value, `${job.input}: `);
  admit(step, job);
  const result = runStep(step);
  const tensors = tensorsOfResult(result, source);
  const typeOf = ({ name }: NamedTensor): ElementName =>
    name === 'response_mask' ? 'U8' : TYPES[step.config.dtype]!;
  const metadata = {
    'fp4.version': VERSION,
    config: JSON.stringify(source.value.config ?? {}),
    loss: formatLoss(result),
  };
  const { header, offsets } = buildSafetensorsHeader(
    tensors.map((t) => ({ name: t.name, shape: t.shape, type: typeOf(t) })),
    metadata,
  );
  return writeWhole(job.output, async (file) => {
    file.write(header, 0);
    tensors.forEach((tensor, k) => {
      file.write(bytesOf(tensor.data, typeOf(tensor)), offsets[k]!);
    });
    return 1;
  });
}
