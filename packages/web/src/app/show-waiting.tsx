import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConversationInfo } from '@tendon/client';
import { isActive, type NoticeKind, noticeKind, parseAgentState } from '@tendon/protocol';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { noticeWords } from '../copy/notice-words.ts';
import { conversationSentence as stateOf } from '../copy/state-sentence.ts';
import { t } from '../lib/language/text.ts';
import { type Notice, notifications, type OnChosen } from '../lib/notifications.ts';
import { paths } from '../lib/paths.ts';
import { pushDevice } from '../lib/push-device.ts';
import { conversationsQuery, tendon } from '../lib/server.ts';
import { navigate } from '../lib/address.tsx';
import { useBadge, useWaiting, useWaitingHosts, type WaitingQuestion } from '../pages/inbox/use-questions.ts';

/** Shows each moment that comes while the page is hidden, once, and carries out what is chosen there. */
export function ShowWaiting() {
  // A hidden page goes on asking.
  const { data = [] } = useQuery({ ...conversationsQuery, refetchIntervalInBackground: true });
  const waiting = useWaiting();
  const hosts = useWaitingHosts();
  const ended = useEnded(data, waiting);
  const carryOut = useCarryOut();
  useBadge(waiting.filter(({ kind }) => kind !== 'answered').length + hosts.length);
  const seen = useRef<Set<string>>(undefined);
  useEffect(() => {
    const moments: readonly Moment[] = [
      ...waiting
        .filter(({ kind }) => kind !== 'answered')
        .map((question) => ({ info: question.info, tag: String(question.eventId), words: () => wordsOf(question) })),
      ...hosts.map(({ info, question: { host, port } }) => ({
        info,
        tag: host,
        words: () => ({ body: t('The sandbox wants to reach {{host}}:{{port}}', { host, port }) }),
      })),
      ...ended.map((info) => ({ info, tag: 'ended', words: () => ({ body: stateOf(info).text }) })),
    ];
    const tagOf = ({ info, tag }: Moment) => `${info.conversation_id} ${tag}`;
    for (const one of moments) {
      const { info, words } = one;
      if (!document.hidden || seen.current?.has(tagOf(one))) continue;
      const path = paths.conversation(info.conversation_id);
      // Where a browser shows none, the settings say so.
      void Promise.resolve(words())
        .then((shown) => notifications.show(info.title, { ...shown, path, tag: tagOf(one) }, carryOut))
        .catch(() => undefined);
    }
    seen.current = new Set(moments.map(tagOf));
  }, [waiting, hosts, ended, carryOut]);
  useEffect(() => notifications.onChosen(carryOut), [carryOut]);
  // In another language all of this is made anew. Without a connection the next page does it.
  useEffect(() => void pushDevice.renew(noticeWords()).catch(() => undefined), []);
  return null;
}

interface Moment {
  readonly info: ConversationInfo;
  /** Within its conversation. */
  readonly tag: string;
  readonly words: () => Shown | Promise<Shown>;
}

type Shown = Pick<Notice, 'decision'> & { readonly body: string };

/** Those that ended, failed or answered since this page saw them at work; none where the device is sent pushes, which say the same. */
function useEnded(all: readonly ConversationInfo[], waiting: ReturnType<typeof useWaiting>): readonly ConversationInfo[] {
  const atWork = useRef(new Set<string>());
  return useMemo(() => {
    for (const info of all) if (isActive(parseAgentState(info.agent_state) ?? 'init')) atWork.current.add(info.conversation_id);
    if (pushDevice.id !== undefined) return [];
    const answered = new Set(waiting.filter(({ kind }) => kind === 'answered').map(({ info }) => info.conversation_id));
    return all.filter(({ conversation_id: id, agent_state }) => {
      const state = parseAgentState(agent_state);
      return atWork.current.has(id) && (answered.has(id) || (state !== undefined && ENDS.has(noticeKind(state))));
    });
  }, [all, waiting]);
}

const ENDS: ReadonlySet<NoticeKind | undefined> = new Set<NoticeKind>(['finished', 'declined', 'failed']);

/** More of an action is not sure to be seen. */
const MOST_SEEN = 160;

/** An action that may do harm, or is longer than a notification, is decided where all of it is read. */
async function wordsOf({ info, eventId, action }: WaitingQuestion): Promise<Shown> {
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
