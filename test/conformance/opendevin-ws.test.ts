import { describe, expect, it } from 'vitest';
import { WS_DIALECTS, type Event, type Frame, type WsGeneration } from '@tendon/protocol';
import { EVERY_KIND, UNKNOWN } from './every-kind.ts';
import { factOf, keyProblems, nameOf, readFacts, typeProblems, type Facts, type KeysByKind } from './facts.ts';

/** Both ends of opendevin-2024-07 in one frame: what 0.6 had and 0.9 had not, and the other way round. */
const SINCE_06: KeysByKind = {
  'action run': ['blocking', 'keep_prompt', 'is_confirmed'],
  'action run_ipython': ['is_confirmed'],
  'action browse_interactive': ['browsergym_send_msg_to_user'],
  'action message': ['images_urls'],
  'observation run': ['metadata'],
  'observation browse': ['extra_element_properties'],
};
const SINCE_09: KeysByKind = {
  'action run': ['background'],
  'observation run': ['metadata'],
  'observation browse': ['status_code'],
};
/** Of 0.6 and not of 0.9, whose frontends pass over them, and the refusal that came after 0.6. */
const ONLY_06 = ['action kill', 'observation recall'];

function emitted(generation: WsGeneration): readonly Frame[] {
  const dialect = WS_DIALECTS[generation];
  return EVERY_KIND.filter((event) => event !== UNKNOWN)
    .flatMap((event) => [...dialect.encode(event, 'live'), ...dialect.encode(event, 'replay')])
    .filter((frame) => frame.action !== undefined || frame.observation !== undefined);
}

function problems(frames: readonly Frame[], facts: Facts, allowed: KeysByKind): string[] {
  return frames.flatMap((frame) => {
    const fact = factOf(facts, frame);
    return fact ? [...keyProblems(frame, fact, allowed), ...typeProblems(frame, fact, ['args.images_urls'])] : [];
  });
}

/** Meta fields may be absent (`cause`) or stand beside (`timeout`); their order is the release's. */
function orderProblems(frames: readonly Frame[], facts: Facts): string[] {
  return frames.flatMap((frame) => {
    const keys = factOf(facts, frame)?.keys ?? Object.keys(frame);
    const shown = Object.keys(frame).filter((key) => key !== 'timeout' && key !== 'cause');
    return shown.join() === keys.filter((key) => key !== 'cause').join() ? [] : [`${nameOf(frame)}: ${shown.join()}`];
  });
}

function unknownKinds(frames: readonly Frame[], facts: Facts): string[] {
  return [...new Set(frames.filter((frame) => !factOf(facts, frame)).map(nameOf))].toSorted();
}

const BY_GENERATION = [
  ['opendevin-2024-06', '0.6.1', SINCE_06, ['observation user_rejected']],
  ['opendevin-2024-07', '0.9.8', SINCE_09, ONLY_06],
  ['opendevin-2024-11', '0.9.8', SINCE_09, ONLY_06],
] as const;

describe.each(BY_GENERATION)('opendevin-ws %s against what %s wrote', (generation, release, allowed, others) => {
  const facts = readFacts(release);
  const frames = emitted(generation);

  it('DL60: only kinds of its release are emitted, and those that are listed', () => {
    expect(unknownKinds(frames, facts)).toEqual([...others].toSorted());
  });

  /** The sample of `recall` is a look-up for a person's message. */
  it('DL60: every kind of the release is emitted, but what is hidden', () => {
    const wanted = [
      ...Object.keys(facts.actions).map((kind) => `action ${kind}`),
      ...Object.keys(facts.observations).map((kind) => `observation ${kind}`),
    ];
    const names = new Set(frames.map(nameOf));
    expect(wanted.filter((name) => !names.has(name))).toEqual(
      ['action null', 'action recall', 'action change_agent_state', 'observation null'].filter((name) => wanted.includes(name)),
    );
  });

  it('DL60: exactly its keys and types, and the additive ones that are listed', () => {
    expect(problems(frames, facts, allowed)).toEqual([]);
    expect(orderProblems(frames, facts)).toEqual([]);
  });

  it('DL61: ids, times and two sources; nothing of the executor', () => {
    expect(frames.every((frame) => Number.isInteger(frame.id) && String(frame.timestamp).endsWith('Z'))).toBe(true);
    expect(new Set(frames.map((frame) => frame.source))).toEqual(new Set(['agent', 'user']));
    expect(frames.some((frame) => 'executor' in frame)).toBe(false);
  });
});

describe('opendevin-2024-05', () => {
  const frames = emitted('opendevin-2024-05');

  it('DL70: kinds of 0.3.1 keep its keys and types; every action of the agent has a thought', () => {
    const thoughts = Object.fromEntries(frames.map((frame) => [nameOf(frame), ['thought', 'outputs']]));
    const additive: KeysByKind = { ...thoughts, 'observation run': ['metadata'], 'observation recall': ['query'] };
    expect(problems(frames, readFacts('0.3.1'), additive)).toEqual([]);
    const bare = frames.filter((frame) => frame.action !== undefined && typeof (frame.args as Frame).thought !== 'string');
    expect([...new Set(bare.map(nameOf))]).toEqual([]);
  });

  it('DL70: beside them talk, run_ipython, delegate and the task’s state', () => {
    expect(unknownKinds(frames, readFacts('0.3.1'))).toEqual([
      'action change_task_state',
      'action delegate',
      'action run_ipython',
      'action talk',
      'observation chat',
      'observation delegate',
      'observation run_ipython',
    ]);
    expect(frames.filter((frame) => 'id' in frame || 'source' in frame)).toEqual([]);
  });
});

it('DL9: an unknown kind passes every generation', () => {
  for (const dialect of Object.values(WS_DIALECTS)) {
    expect(dialect.encode(UNKNOWN satisfies Event, 'live')).toMatchObject([{ action: 'levitate', args: { height: 2 } }]);
  }
});
