import { lookup } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DriverName } from '@tendon/runtime';
import { run } from '@tendon/runtime/testing';
import { openHostile, type EscapeSubject, type Hostile } from './open-hostile.ts';
import type { Threat } from './threat.ts';
import { STRENGTHS } from './threats-document.ts';
import { THREATS } from './threats.ts';

const GOT_OUT = /^ESCAPED/m;
const HELD = /^(?:held .*\n+)+the end\s*$/;
/** Cut off is fine, wrong is not. */
const NOT_OUT = /^(?![^]*(?:ESCAPED |(?:Syntax|Name|Type|Attribute|Import|Key)Error))/;

/** Tens of thousands of files go slowly where many others write. */
const CLEANING_SECONDS = 110;

/** The table of threats on one driver that keeps the agent in. */
export function describeEscapes(name: Exclude<DriverName, 'none' | 'kubernetes'>, subject: EscapeSubject): void {
  describe(`escaping from ${name}`, () => {
    let hostile: Hostile;
    beforeAll(async () => {
      hostile = await openHostile(subject);
    });
    afterAll(() => hostile?.close());

    const outcomeOf = ({ notHeld, isRough }: Threat): RegExp => (notHeld?.[name] === undefined ? (isRough ? NOT_OUT : HELD) : GOT_OUT);

    it('SB120: has the strength that the table says', () => expect(hostile.runtime.strength).toBe(STRENGTHS[name]));

    describe.each(THREATS)('$rule: $title', ({ threats }) => {
      const tried: readonly Threat[] = subject.sample?.(threats) ?? threats;
      it.each(tried)('$id', async (threat) => {
        const { bait, runtime, sandboxes } = hostile;
        const before = bait.look();
        const printed = await hostile.probe(threat);
        expect(printed).toMatch(outcomeOf(threat));
        expect(printed).not.toContain(bait.word);
        expect(bait.look()).toEqual(before);
        expect(await lookup('localhost')).toBeDefined(); // the server's threads are free
        // A probe that is killed leaves its rubbish, and the disk's limit would hold for the next one.
        const clean = '[ ! -e rubbish ] && [ ! -e taken ] || rm -rf rubbish taken let-go; echo alive';
        expect((await run(runtime, clean, { seconds: CLEANING_SECONDS })).output).toBe('alive');
        expect(sandboxes.runtimes.current('hostile')).toBe(runtime);
      });
    });

    it('SB127: after the end nothing is left of it', async () => {
      await hostile.sandboxes.runtimes.stop('hostile');
      expect(hostile.left()).toEqual([]);
    });
  });
}
