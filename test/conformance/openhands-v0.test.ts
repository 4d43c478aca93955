import { describe, expect, it } from 'vitest';
import { openhandsV0 } from '@tendon/protocol';
import { EVERY_KIND, FULL_ACTION } from './every-kind.ts';
import { factOf, keyProblems, nameOf, readFacts, typeProblems, type Facts, type KeysByKind } from './facts.ts';

const EMITTED = EVERY_KIND.flatMap((event) => openhandsV0.encode(event, 'live'));

/** Keys beside 0.62's own: optional ones of ours, and names of older generations (DL4). */
const ADDITIVE: KeysByKind = {
  'action run': ['background'],
  'action finish': ['task_completed'],
  'observation run': ['command_id', 'exit_code'],
  'observation recall': ['query'],
  'observation agent_state_changed': ['resumes_at'],
};
const NULLABLE = ['args.forgotten_event_ids', 'args.summary', 'args.summary_offset'];

function knownTo(facts: Facts) {
  return EMITTED.flatMap((frame) => {
    const fact = factOf(facts, frame);
    return fact ? [{ frame, fact }] : [];
  });
}

describe('openhands-v0 against what 0.62.0 wrote', () => {
  const facts = readFacts('0.62.0');
  const known = knownTo(facts);

  it('DL1: every kind of 0.62 but null is emitted', () => {
    const emitted = new Set(EMITTED.map(nameOf));
    const wanted = [
      ...Object.keys(facts.actions).map((kind) => `action ${kind}`),
      ...Object.keys(facts.observations).map((kind) => `observation ${kind}`),
    ];
    expect(wanted.filter((kind) => !emitted.has(kind))).toEqual(['action null', 'observation null']);
  });

  it('DL2: every kind has exactly its keys, and the additive ones that are listed', () => {
    expect(known.flatMap(({ frame, fact }) => keyProblems(frame, fact, ADDITIVE))).toEqual([]);
  });

  it('DL2: every key has its type', () => {
    expect(known.flatMap(({ frame, fact }) => typeProblems(frame, fact, NULLABLE))).toEqual([]);
  });

  it('DL3: top-level keys come in the order of 0.62', () => {
    for (const { frame, fact } of known) expect(Object.keys(frame)).toEqual(fact.keys);
  });

  it('DL3: an action with everything has the keys of the full example in order, and nothing of the executor', () => {
    const [frame] = openhandsV0.encode(FULL_ACTION, 'live');
    expect(Object.keys(frame!)).toEqual(facts.full!.keys);
    expect(frame!.llm_metrics).toMatchObject({ costs: [], response_latencies: [], token_usages: [] });
    expect(typeProblems(frame!, facts.full!)).toEqual([]);
  });
});

/** Not sent any more, and read by no frontend that was looked at. */
const GONE: KeysByKind = {
  'action run': ['keep_prompt'],
  'action modify_task': ['task_id'],
  'action finish': ['task_completed'],
  'observation run': ['interpreter_details'],
};

describe.each(['0.15.0', '0.25.0', '0.40.0'])('openhands-v0 read by a frontend of %s', (release) => {
  it('DL4: nothing is missing but what is listed', () => {
    const problems = knownTo(readFacts(release)).flatMap(({ frame, fact }) => keyProblems(frame, fact, {}, GONE));
    expect(problems.filter((problem) => problem.includes('missing'))).toEqual([]);
  });
});
