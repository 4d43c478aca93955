import { RestoreCheckpointObservation, type Event } from '@tendon/protocol';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { legalityProblems } from './legal-request.test-support.ts';
import { filled, idsOf } from './view-outline.ts';
import { plausibleLog, toLog } from './random-log.test-support.ts';
import { View } from './view.ts';

function restored(id: number, from: number, what: 'files' | 'conversation' | 'both'): Event {
  const [event] = toLog([{ source: 'user', ...RestoreCheckpointObservation.create('restored', { checkpoint: 1, what, from }) }]);
  return { ...event!, id };
}

/** A log, a restore of any point, and another log after it. */
const restoredLog = fc
  .tuple(plausibleLog, fc.nat(), fc.constantFrom('files', 'conversation', 'both'), plausibleLog)
  .map(([before, point, what, after]): readonly Event[] => {
    const shift = before.length + 1;
    const moved = after.map((event) => ({
      ...event,
      id: event.id + shift,
      ...(event.cause !== undefined && { cause: event.cause + shift }),
    }));
    return [...before, restored(before.length, point % Math.max(1, before.length), what), ...(moved as Event[])];
  });

function viewOf(events: readonly Event[]): View {
  const view = new View(codeActAgent);
  for (const event of events) view.add(event);
  return view;
}

describe('a restored conversation', () => {
  it('CK724: every prefix is a legal request', () => {
    fc.assert(
      fc.property(restoredLog, (log) => {
        const view = new View(codeActAgent);
        for (const event of log) {
          view.add(event);
          expect(legalityProblems(view.project().messages)).toEqual([]);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('CK720: the view is what it was before the point, the messages of the user included, also when it is made from its outline', () => {
    const user = (content: string) => ({ source: 'user', action: 'message', args: { content } });
    const agent = (content: string) => ({ action: 'message', args: { content, wait_for_response: true } });
    const all = toLog([user('do one'), agent('done'), user('do two'), agent('ruined')]);
    const before = all.slice(0, 2);
    const log = [...all, restored(4, 2, 'both')];
    const view = viewOf(log);
    expect(view.project().messages).toEqual(viewOf(before).project().messages);
    const events = new Map(log.map((event) => [event.id, event]));
    expect(idsOf(view.outline).every((id) => id < 2)).toBe(true);
    expect(new View(codeActAgent, filled(view.outline, events)).project().messages).toEqual(view.project().messages);
  });

  it('CK721: the model is shown that the files were restored', () => {
    const log = [...toLog([{ source: 'user', action: 'message', args: { content: 'do one' } }]), restored(1, -1, 'files')];
    expect(JSON.stringify(viewOf(log).project().messages.at(-1))).toContain('restored');
  });
});
