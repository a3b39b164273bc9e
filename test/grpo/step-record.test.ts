/** What a step file may hold, and what is refused, by its JSON path. */
import { describe, expect, test } from 'vitest';
import { Fp4Error } from '../../src/error.ts';
import { refuseStrange, runStep } from '../../src/grpo/step.ts';
import { FIELDS, PRESETS } from '../../src/grpo/step-config.ts';
import { parseStep } from '../../src/grpo/step-record.ts';
import { page, tables } from '../spec/page.ts';

const ANSWER = { reward: 1, mask: [1, 1], log_prob: [-1, -2], old_log_prob: [-1, -2] };
const groupsOf = (...answers: object[]) => [{ answers }];
const step = (config: object, ...answers: object[]) => ({ config, groups: groupsOf(...answers) });

function refusal(value: unknown): string {
  try {
    runStep(parseStep(value, 'S.json: '));
  } catch (error) {
    if (error instanceof Fp4Error) return `${error.message} (${error.code})`;
    throw error;
  }
  return 'accepted';
}

describe('refused [GRP-17] [GRP-18]', () => {
  test.each<[string, unknown, string]>([
    [
      'a typo',
      step({ clip_ratio_lo: 1 }, ANSWER),
      'S.json: config.clip_ratio_lo: not known under preset verl; did you mean "clip_ratio_low"?',
    ],
    ["TRL's name", step({ beta: 1 }, ANSWER), 'S.json: config.beta: not known under preset verl'],
    ['a preset', step({ preset: 'tlr' }, ANSWER), 'S.json: config.preset: found "tlr"; did you mean "trl"?'],
    ['a framework', { framework: 'slime', groups: groupsOf(ANSWER) }, 'S.json: framework: found "slime"'],
    ['a dtype', step({ dtype: 'bfloat16' }, ANSWER), 'S.json: config.dtype: found "bfloat16"'],
    ['a mode', step({ loss_agg_mode: 'token_mean' }, ANSWER), 'did you mean "token-mean"?'],
    [
      'text for a number',
      step({ clip_ratio: '0.2' }, ANSWER),
      'config.clip_ratio: found "0.2", expected a number not below 0',
    ],
    ['1 for true', step({ use_kl_loss: 1 }, ANSWER), 'config.use_kl_loss: found 1, expected true or false'],
    ['c of 1', step({ clip_ratio_c: 1 }, ANSWER), 'config.clip_ratio_c: found 1, expected a number above 1'],
    [
      'a band upside down',
      step({ rollout_is: 'token', rollout_is_threshold: '2_0.5' }, ANSWER),
      'a lower bound that is not above the upper one',
    ],
    [
      'a threshold',
      step({ rollout_is: 'token', rollout_is_threshold: 'two' }, ANSWER),
      'config.rollout_is_threshold: found "two", expected positive numbers',
    ],
    [
      'a rule',
      step({ rollout_rs: 'token_k4', rollout_rs_threshold: 1 }, ANSWER),
      'no rule "token_k4"; did you mean "token_k1"?',
    ],
    ['no threshold', step({ rollout_rs: 'token_k1' }, ANSWER), 'config.rollout_rs_threshold: found null'],
    [
      'three thresholds',
      step({ rollout_rs: 'token_k1,token_k2', rollout_rs_threshold: '1,2,3' }, ANSWER),
      'one threshold, or 2 separated by commas',
    ],
    [
      'a band for k2',
      step({ rollout_rs: 'token_k2', rollout_rs_threshold: '1_2' }, ANSWER),
      'one upper bound for token_k2',
    ],
    [
      'dp_size alone',
      step({ dp_size: 2 }, ANSWER),
      'config.batch_num_tokens: it is missing; token-mean needs it',
    ],
    [
      'dp_size with GSPO',
      step({ dp_size: 2, batch_num_tokens: 8, loss_mode: 'gspo' }, ANSWER),
      'config.global_batch_size: it is missing',
    ],
    ['no object', [1], 'S.json: found [1], expected an object with groups'],
    ['a config that is none', { config: [], groups: [] }, 'config: found [], expected an object'],
    ['no groups', { groups: [] }, 'S.json: groups: found none'],
    ['groups missing', {}, 'S.json: groups: it is missing'],
    ['no answers', { groups: [{ answers: [] }] }, 'groups[0].answers: found none'],
    ['no group', { groups: [null] }, 'groups[0]: found null'],
    ['no answer', { groups: groupsOf(ANSWER, 3 as never) }, 'groups[0].answers[1]: found 3'],
    ['no mask', step({}, { ...ANSWER, mask: undefined }), 'groups[0].answers[0].mask: it is missing'],
    [
      'a mask of 2',
      step({}, ANSWER, { ...ANSWER, mask: [1, 2] }),
      'groups[0].answers[1].mask[1]: found 2, expected 0 or 1',
    ],
    ['a mask of true', step({}, { ...ANSWER, mask: [true, 1] }), 'mask[0]: found true'],
    [
      'lengths',
      step({}, { ...ANSWER, old_log_prob: [-1] }),
      'groups[0].answers[0].old_log_prob: found 1 numbers, expected 2 as in mask (E_LENGTH)',
    ],
    [
      'a number in text',
      step({}, { ...ANSWER, log_prob: [-1, '-2'] }),
      'log_prob[1]: found "-2", expected a number',
    ],
    ['null in a list', step({}, { ...ANSWER, log_prob: [-1, null] }), 'log_prob[1]: found null'],
    [
      'a reward of text',
      step({}, { ...ANSWER, reward: 'good' }),
      'groups[0].answers[0].reward: found "good"',
    ],
    ['no reward', step({}, { ...ANSWER, reward: null }), 'groups[0].answers[0].reward: it is missing'],
    [
      'no old log-probs',
      step({}, { ...ANSWER, old_log_prob: null }),
      'old_log_prob: it is missing; preset verl needs it',
    ],
    ['no new log-probs', step({}, { ...ANSWER, log_prob: null }), 'log_prob: it is missing'],
    [
      'weights without rollout',
      step({ rollout_is: 'token' }, ANSWER),
      'rollout_log_prob: it is missing; rollout_is and rollout_rs need it',
    ],
    [
      'rejection without rollout',
      step({ rollout_rs: 'token_k1', rollout_rs_threshold: 2 }, ANSWER),
      'rollout_log_prob: it is missing',
    ],
    [
      'TRL weights without rollout',
      step({ preset: 'trl', vllm_importance_sampling_correction: true }, ANSWER),
      'rollout_log_prob: it is missing',
    ],
    [
      'KL without reference',
      step({ use_kl_loss: true }, ANSWER),
      'ref_log_prob: it is missing; use_kl_loss is on',
    ],
    [
      'TRL KL without reference',
      step({ preset: 'trl', beta: 1 }, ANSWER),
      'ref_log_prob: it is missing; beta is not 0',
    ],
    ['entropy missing', step({ entropy_coeff: 1 }, ANSWER), 'entropy: it is missing'],
    [
      'entropy of some',
      step({}, { ...ANSWER, entropy: [1, 1] }, ANSWER),
      'groups[0].answers[1].entropy: it is missing; other answers have it',
    ],
  ])('%s', (_, value, message) => {
    expect(refusal(value)).toContain(message);
  });
});

describe('accepted', () => {
  test('null is absent, keys that are not known are passed over [GRP-17] [GRP-18]', () => {
    const plain = runStep(parseStep(step({}, ANSWER), ''));
    const more = runStep(
      parseStep(
        {
          notes: ['x'],
          expected: 1,
          config: { clip_ratio: null, rollout_rs: null, preset: null },
          groups: [{ note: 1, answers: [{ ...ANSWER, ref_log_prob: null, text: 'hm' }] }],
        },
        '',
      ),
    );
    expect(more).toEqual(plain);
  });

  test('framework and dtype of the step stand in [GRP-17]', () => {
    const { config } = parseStep({ framework: 'trl', dtype: 'float32', groups: groupsOf(ANSWER) }, '');
    expect([config.preset, config.dtype]).toEqual(['trl', 'float32']);
    const own = parseStep({ framework: 'trl', config: { preset: 'verl' }, groups: groupsOf(ANSWER) }, '');
    expect(own.config.preset).toBe('verl');
  });

  test('numbers are rounded to the dtype once [GRP-18]', () => {
    const { groups } = parseStep(
      { dtype: 'float32', groups: groupsOf({ ...ANSWER, log_prob: [-0.1, -0] }) },
      '',
    );
    expect([...groups[0]!.answers[0]!.tokens.log_prob!]).toEqual([Math.fround(-0.1), -0]);
  });

  test('paper: weights where there are rollout log-probs, null switches them off [GRP-17]', () => {
    const rollout = { ...ANSWER, rollout_log_prob: [-1, -9] };
    const weights = (config: object, answer: object) =>
      runStep(parseStep(step(config, answer), '')).groups[0]!.answers[0]!.weight;
    expect([...(weights({ preset: 'paper' }, rollout) as Float64Array)]).toEqual([1, 5]);
    expect(weights({ preset: 'paper' }, ANSWER)).toBeUndefined();
    expect(weights({ preset: 'paper', rollout_is: null }, rollout)).toBeUndefined();
    expect(weights({ preset: 'trl' }, rollout)).toBe(0);
    expect(weights({ preset: 'trl' }, ANSWER)).toBeUndefined();
    expect(weights({ preset: 'trl', vllm_importance_sampling_correction: false }, rollout)).toBeUndefined();
  });

  test('TRL without old log-probs: every ratio is 1 [GRP-04]', () => {
    const { ratio } = runStep(parseStep(step({ preset: 'trl' }, { ...ANSWER, old_log_prob: null }), ''))
      .groups[0]!.answers[0]!;
    expect([...(ratio as Float64Array)]).toEqual([1, 1]);
  });

  test('strange data is told by path, and refused by strict [GRP-20]', () => {
    const strange = parseStep(
      step({}, { ...ANSWER, reward: 'NaN', log_prob: ['-Infinity', 0.5], entropy: [2, 1] }),
      'S.json: ',
    );
    expect(strange.warnings).toEqual([
      'groups[0].answers[0].log_prob[0]: -Infinity',
      'groups[0].answers[0].log_prob[1]: 0.5 is positive; a log-prob is at most 0',
      'groups[0].answers[0].reward: NaN',
    ]);
    expect(() => refuseStrange(strange)).toThrow(
      /S.json: groups\[0\].answers\[0\].log_prob\[0\]: -Infinity \(3 such/,
    );
    expect(() => refuseStrange(parseStep(step({}, ANSWER), ''))).not.toThrow();
  });
});

test('the table of defaults is that of the code [GRP-17]', () => {
  const table = tables(page('grpo.md')).find(({ header }) => header.includes('paper'))!;
  const shown = (text: string): string => text.replace(/ \(.*\)$/, '').replaceAll('`', '');
  const listed = Object.fromEntries(PRESETS.map((preset) => [preset, {} as Record<string, string>]));
  for (const [name, verl, paper, other, trl] of table.rows.map((row) => row.map(shown))) {
    if (name) {
      listed.verl![name] = verl!;
      listed.paper![name] = paper!;
    }
    if (other) listed.trl![other] = trl!;
  }
  for (const preset of PRESETS) {
    const defaults = Object.entries(FIELDS[preset]).map(([name, { default: value }]) => [
      name,
      value === 1e-6 ? '0.000001' : String(value),
    ]);
    expect(listed[preset]).toEqual(Object.fromEntries(defaults));
  }
});
