import { useQueries, useQuery } from '@tanstack/react-query';
import type { ConversationInfo } from '@tendon/client';
import { type Action, asksPerson, fromJson, isAction, type NetworkQuestion } from '@tendon/protocol';
import { useEffect } from 'react';
import { isWaiting } from '../../copy/state-sentence.ts';
import { conversationsQuery, tendon } from '../../lib/server.ts';

/** What a conversation waits for a person to decide or say. */
export interface WaitingQuestion {
  readonly info: ConversationInfo;
  readonly eventId: number;
  readonly action: Action;
}

/** A host that the sandbox of a conversation wants to reach. */
export interface WaitingHost {
  readonly info: ConversationInfo;
  readonly question: NetworkQuestion;
}

/** More are answered when these are. */
const MOST = 12;

/** Of all conversations, those that wait longest last. Each is asked for once: anew only when its conversation was used since. `answered`: nothing is asked. */
export function useWaiting(): readonly (WaitingQuestion & { readonly kind: 'decision' | 'question' | 'answered' })[] {
  const { data = [] } = useQuery(conversationsQuery);
  const waiting = data.filter(isWaiting).slice(0, MOST);
  const found = useQueries({
    queries: waiting.map((info) => ({
      queryKey: ['question', info.conversation_id, info.agent_state, info.last_updated_at],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => tendon.conversations.question(info.conversation_id, signal),
      retry: false,
      staleTime: Infinity,
    })),
  });
  return found.flatMap(({ data: question }, index) => {
    const action = question && fromJson(question.action);
    if (!action || !isAction(action)) return [];
    const kind = question.kind === 'confirmation' ? 'decision' : asksPerson(action) ? 'question' : 'answered';
    return [{ info: waiting[index]!, eventId: question.event_id, action, kind } as const];
  });
}

/** Those of them that are questions. */
export function useQuestions(): readonly WaitingQuestion[] {
  return useWaiting().filter(({ kind }) => kind !== 'answered');
}

/** The ids of the conversations whose agent asked something. */
export function askingOf(questions: readonly WaitingQuestion[]): ReadonlySet<string> {
  return new Set(questions.map(({ info }) => info.conversation_id));
}

/** Of all conversations, the one that waits longest first. */
export function useWaitingHosts(): readonly WaitingHost[] {
  const { data = [] } = useQuery(conversationsQuery);
  return data
    .flatMap((info) => (info.network_questions ?? []).map((question) => ({ info, question })))
    .toSorted((a, b) => a.question.asked_at.localeCompare(b.question.asked_at))
    .slice(0, MOST);
}

/** On the icon of the app, where it is installed. */
export function useBadge(count: number): void {
  useEffect(() => {
    if (typeof navigator.setAppBadge !== 'function') return;
    // A browser may have the function and no icon.
    void (count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => undefined);
  }, [count]);
}
