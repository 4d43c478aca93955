import type { WireEvent } from '@tendon/testing/servers';
import { beforeAll, describe, expect, it } from 'vitest';
import { playSteps } from './play-steps.ts';
import type { RuleCase, Step } from './rule-case.ts';
import { matcherOf, seenOf } from './seen-of.ts';

/** A test for each row. All rows of a section are one conversation, one after the other: a row leaves the sandbox as it found it. */
export function provesRules(rows: readonly RuleCase[]): void {
  describe('through the events of a conversation', () => {
    let played: ReadonlyMap<Step, WireEvent>;
    beforeAll(async () => {
      played = await playSteps(rows.flatMap(({ steps }) => steps));
    }, 900_000);

    it.each(rows)('$rule: $says', ({ steps }) => {
      for (const step of steps) {
        const event = played.get(step);
        const seen = event ? seenOf(event) : 'no observation';
        expect({ did: [step.name, step.args], seen }).toMatchObject({ did: [step.name, step.args], seen: matcherOf(step.expected) });
      }
    });
  });
}
