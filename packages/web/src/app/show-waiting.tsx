import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { conversationSentence as stateOf } from '../copy/state-sentence.ts';
import { t } from '../lib/language/text.ts';
import { notifications } from '../lib/notifications.ts';
import { paths } from '../lib/paths.ts';
import { conversationsQuery } from '../lib/server.ts';
import { navigate } from '../lib/address.tsx';
import { useBadge, useQuestions, useWaitingHosts } from '../pages/inbox/use-questions.ts';

/** Shows each question that comes while the page is hidden, once. */
export function ShowWaiting() {
  // A hidden page goes on asking.
  useQuery({ ...conversationsQuery, refetchIntervalInBackground: true });
  const questions = useQuestions();
  const hosts = useWaitingHosts();
  useBadge(questions.length + hosts.length);
  const seen = useRef<Set<string>>(undefined);
  useEffect(() => {
    const waiting = [
      ...questions.map(({ info, eventId }) => ({ info, tag: `${info.conversation_id} ${eventId}`, body: stateOf(info).text })),
      ...hosts.map(({ info, question: { host, port } }) => ({
        info,
        tag: `${info.conversation_id} ${host}`,
        body: t('The sandbox wants to reach {{host}}:{{port}}', { host, port }),
      })),
    ];
    for (const { info, tag, body } of waiting) {
      if (!document.hidden || seen.current?.has(tag)) continue;
      notifications.show(info.title, { body, tag, onClick: () => navigate(paths.conversation(info.conversation_id)) });
    }
    seen.current = new Set(waiting.map(({ tag }) => tag));
  }, [questions, hosts]);
  return null;
}
