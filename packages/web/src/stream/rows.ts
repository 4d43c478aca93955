import type { ConversationSnapshot } from '@tendon/client';
import { useMemo } from 'react';
import { openDecision } from '../conversation/open-conversation.ts';
import { foldTurns } from './fold-turns.ts';
import { projectItems } from './project-items.ts';
import type { StreamItem } from './stream-item.ts';

const AT_REST: ReadonlySet<string> = new Set(['finished', 'stopped', 'rejected', 'error', 'awaiting_user_input']);

/** What the stream shows, from top to bottom: the items, the partial answer, the messages that are not sent yet. */
export interface Rows {
  readonly items: readonly StreamItem[];
  /** Those of `items` that are open unless a person folded them. */
  readonly newest: ReadonlySet<number>;
  readonly answer: string | undefined;
  /** One for each row, stable over time. */
  readonly keys: readonly string[];
}

export function useRows({ events, answer, outbox, state }: ConversationSnapshot): Rows {
  const isOver = AT_REST.has(state.agentState);
  const decision = openDecision(state)?.id;
  const items = useMemo(() => {
    const projected = foldTurns(projectItems(events), isOver);
    // What waits for a decision is shown once, in the composer.
    return decision === undefined ? projected : projected.filter((item) => item.id !== decision || item.type !== 'step');
  }, [events, isOver, decision]);
  const newest = useMemo(() => newestSteps(items), [items]);
  const hasAnswer = Boolean(answer?.text.trim());
  const keys = useMemo(
    () => [...items.map((item) => item.key), ...(hasAnswer ? ['answer'] : []), ...outbox.map((entry) => `out-${entry.clientId}`)],
    [items, hasAnswer, outbox],
  );
  return { items, newest, answer: hasAnswer ? answer!.text : undefined, keys };
}

/** Where the newest step stands, and the newest command of the same turn: a person who comes back wants to see what it said. */
function newestSteps(items: readonly StreamItem[]): ReadonlySet<number> {
  const turn = items.findLastIndex((item) => item.type === 'turn');
  const newest = items.findLastIndex((item) => item.type === 'step' && item.action?.action !== 'finish');
  const command = items.findLastIndex((item) => item.type === 'step' && item.action?.action === 'run');
  return new Set([newest, command].filter((index) => index > turn));
}

/** Pixels a row will take before it was measured, by kind. */
export function estimateHeight(item: StreamItem | undefined): number {
  switch (item?.type) {
    case 'speech':
      return 12 + 22 * Math.ceil(item.text.length / 68);
    case 'note':
      return 28;
    case 'step':
    case 'fold':
      return 32;
    case 'turn':
    case undefined:
      return 44;
  }
}
