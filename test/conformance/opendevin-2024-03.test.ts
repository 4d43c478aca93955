import { describe, expect, it } from 'vitest';
import { opendevinWs } from '@tendon/protocol';
import { EVERY_KIND, UNKNOWN } from './every-kind.ts';
import { factOf, keyProblems, nameOf, readFacts, typeProblems, type KeysByKind } from './facts.ts';

const FACTS = readFacts('0.3.1');

/** `metadata` beside the flat exit code (S3), `query` as the seed document names it. */
const ADDITIVE: KeysByKind = { 'observation run': ['metadata'], 'observation recall': ['query'] };

const EMITTED = EVERY_KIND.filter((event) => event !== UNKNOWN).flatMap((event) => [
  ...opendevinWs.encode(event, 'live'),
  ...opendevinWs.encode(event, 'replay'),
]);
const EVENTS = EMITTED.filter((frame) => frame.action !== undefined || frame.observation !== undefined);

describe('opendevin-2024-03 against what 0.3.1 wrote', () => {
  it('DL10: only its kinds are emitted, and the chat of the seed document', () => {
    expect(new Set(EVENTS.filter((frame) => !factOf(FACTS, frame)).map(nameOf))).toEqual(new Set(['observation chat']));
  });

  it('DL10: every kind of 0.3.1 is emitted, but null and echo', () => {
    const emitted = new Set(EMITTED.map(nameOf));
    const wanted = [
      ...Object.keys(FACTS.actions).map((kind) => `action ${kind}`),
      ...Object.keys(FACTS.observations).map((kind) => `observation ${kind}`),
    ];
    expect(wanted.filter((kind) => !emitted.has(kind))).toEqual(['action null', 'action echo', 'observation null']);
  });

  it('DL10: kinds of 0.3.1 have exactly its keys and types, and the additive ones that are listed', () => {
    const known = EVENTS.flatMap((frame) => {
      const fact = factOf(FACTS, frame);
      return fact ? [{ frame, fact }] : [];
    });
    for (const { frame, fact } of known) expect(Object.keys(frame)).toEqual(fact.keys);
    expect(known.flatMap(({ frame, fact }) => [...keyProblems(frame, fact, ADDITIVE), ...typeProblems(frame, fact)])).toEqual([]);
  });

  it('DL11: no frame has an id, a time, a source or a cause', () => {
    expect(EMITTED.filter((frame) => 'id' in frame || 'timestamp' in frame || 'source' in frame || 'cause' in frame)).toEqual([]);
  });
});
