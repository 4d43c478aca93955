import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { conversationSentence as stateOf } from '../copy/state-sentence.ts';
import { t } from '../lib/language/text.ts';
import { type Notice, notifications, type OnChosen } from '../lib/notifications.ts';
import { paths } from '../lib/paths.ts';
import { conversationsQuery, tendon } from '../lib/server.ts';
import { navigate } from '../lib/address.tsx';
import { useBadge, useQuestions, useWaitingHosts, type WaitingQuestion } from '../pages/inbox/use-questions.ts';

/** Shows each question that comes while the page is hidden, once, and carries out what is chosen there. */
export function ShowWaiting() {
  // A hidden page goes on asking.
  useQuery({ ...conversationsQuery, refetchIntervalInBackground: true });
  const questions = useQuestions();
  const hosts = useWaitingHosts();
  const carryOut = useCarryOut();
  useBadge(questions.length + hosts.length);
  const seen = useRef<Set<string>>(undefined);
  useEffect(() => {
    const waiting = [
      ...questions.map((question) => ({ ...question, tag: `${question.info.conversation_id} ${question.eventId}` })),
      ...hosts.map(({ info, question: { host, port } }) => ({
        info,
        tag: `${info.conversation_id} ${host}`,
        body: t('The sandbox wants to reach {{host}}:{{port}}', { host, port }),
      })),
    ];
    for (const one of waiting) {
      if (!document.hidden || seen.current?.has(one.tag)) continue;
      const path = paths.conversation(one.info.conversation_id);
      const words = 'body' in one ? { body: one.body } : wordsOf(one);
      // Where a browser shows none, the settings say so.
      void Promise.resolve(words)
        .then((shown) => notifications.show(one.info.title, { ...shown, path, tag: one.tag }, carryOut))
        .catch(() => undefined);
    }
    seen.current = new Set(waiting.map(({ tag }) => tag));
  }, [questions, hosts, carryOut]);
  useEffect(() => notifications.onChosen(carryOut), [carryOut]);
  return null;
}

/** More of an action is not sure to be seen. */
const MOST_SEEN = 160;

/** An action that may do harm, or is longer than a notification, is decided where all of it is read. */
async function wordsOf({ info, eventId, action }: WaitingQuestion): Promise<Pick<Notice, 'decision'> & { readonly body: string }> {
  const sentence = stateOf(info).text;
  if (action.action === 'message') return { body: sentence };
  const { actionRisk, decisionWords } = await import('../composer/decision.tsx');
  const { question, whole } = decisionWords(action);
  const isSeen = actionRisk(action) !== 2 && whole.length <= MOST_SEEN;
  return {
    body: [sentence, question, whole].filter(Boolean).join('\n'),
    ...(isSeen && { decision: { conversationId: info.conversation_id, eventId } }),
  };
}

/** What a notification was for may have been decided meanwhile: then the server refuses, and that is shown. */
function useCarryOut(): OnChosen {
  const queries = useQueryClient();
  return useCallback(
    function carryOut({ path, decision }, chosen) {
      if (chosen === 'open' || !decision) return navigate(path);
      tendon.conversations
        .answer(decision.conversationId, { event_id: decision.eventId, answer: chosen })
        .catch((error: Error) => notifications.show(t('Not decided'), { body: error.message, path, tag: `${path} refused` }, carryOut))
        .catch(() => undefined)
        .finally(() => void queries.invalidateQueries({ queryKey: ['conversations'] }));
    },
    [queries],
  );
}
