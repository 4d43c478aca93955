import { CondensationAction } from '@tendon/protocol';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { clearable, forgettable, MANY_PICTURES, tokensOf } from './compaction.ts';
import type { ViewEntry } from './entry.ts';
import { legalityProblems } from './legal-request.test-support.ts';
import { metadataOf, plausibleLog, toLog } from './random-log.test-support.ts';
import { View } from './view.ts';

const PICTURE = `data:image/png;base64,${'A'.repeat(100)}`;

function viewOf(log: Parameters<View['add']>[0][]): View {
  const view = new View(codeActAgent);
  for (const event of log) view.add(event);
  return view;
}

const clear = (until: number) => CondensationAction.create({ forgotten_event_ids: [], cleared_until: until });
const forget = (end: number) =>
  CondensationAction.create({ forgotten_events_start_id: 0, forgotten_events_end_id: end, summary: null, summary_offset: 0 });

/** The view after one more condensation. */
function after(log: Parameters<View['add']>[0][], condensation: ReturnType<typeof clear>): View {
  const [event] = toLog([{ ...condensation, source: 'agent' }]);
  return viewOf([...log, { ...event!, id: log.length }]);
}

const textsOfUser = (entries: readonly ViewEntry[]): readonly string[] =>
  entries.flatMap((entry) => (entry.type === 'text' && entry.pinned ? [entry.text.slice(0, 100)] : []));

describe('tiers of a condensation', () => {
  it('EN852: what is chosen to be left out makes the view smaller, legal, and not the same again', () => {
    fc.assert(
      fc.property(plausibleLog, (random) => {
        const log = [...random];
        const { entries } = viewOf(log);
        for (const [choose, made] of [
          [clearable, clear],
          [forgettable, forget],
        ] as const) {
          const until = choose(entries);
          if (until === undefined) continue;
          const left = after(log, made(until));
          expect(tokensOf(left.entries)).toBeLessThan(tokensOf(entries));
          expect(legalityProblems(left.project().messages)).toEqual([]);
          expect(textsOfUser(left.entries)).toEqual(textsOfUser(entries));
          // What was taken once is not there to be taken again.
          expect(choose(left.entries) ?? -1).not.toBe(until);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('EN856: of many pictures in results the newest three stay, and the user’s own', () => {
    const raws: Record<string, unknown>[] = [{ source: 'user', action: 'message', args: { content: 'this one', image_urls: [PICTURE] } }];
    for (let n = 0; n < MANY_PICTURES; n++) {
      const metadata = metadataOf(`r${n}`, [`c${n}`], 0);
      raws.push({ action: 'browse_interactive', args: { browser_actions: 'x' }, tool_call_metadata: metadata });
      const extras = { url: 'http://x', screenshot: PICTURE, trigger_by_action: 'browse_interactive' };
      raws.push({ observation: 'browse', content: 'page', extras, cause: raws.length - 1, tool_call_metadata: metadata });
    }
    const log = [...toLog(raws)];
    const until = clearable(viewOf(log).entries);
    const { messages } = after(log, clear(until!)).project();
    const shown = messages.flatMap((message) =>
      message.role !== 'assistant' && message.role !== 'system' ? (message.imageUrls ?? []) : [],
    );
    expect(shown).toHaveLength(4);
    expect(messages.at(-1)).toMatchObject({ imageUrls: [PICTURE] });
    expect(messages.find(({ role }) => role === 'user')).toMatchObject({ imageUrls: [PICTURE] });
  });
});
