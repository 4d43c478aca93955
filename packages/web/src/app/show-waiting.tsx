import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useNavigate } from 'react-router';
import { conversationSentence } from '../copy/state-sentence.ts';
import { notifications } from '../lib/notifications.ts';
import { paths } from '../lib/paths.ts';
import { conversationsQuery } from '../lib/server.ts';
import { useQuestions } from '../pages/inbox/use-questions.ts';

/** Shows each question that comes while the page is hidden, once. */
export function ShowWaiting() {
  // A hidden page goes on asking.
  useQuery({ ...conversationsQuery, refetchIntervalInBackground: true });
  const questions = useQuestions();
  const navigate = useNavigate();
  const seen = useRef<Set<string>>(undefined);
  useEffect(() => {
    const tags = questions.map(({ info, eventId }) => `${info.conversation_id} ${eventId}`);
    for (const [index, { info }] of questions.entries()) {
      const tag = tags[index]!;
      if (!document.hidden || seen.current?.has(tag)) continue;
      const onClick = () => void navigate(paths.conversation(info.conversation_id));
      notifications.show(info.title, { body: conversationSentence(info).text, tag, onClick });
    }
    seen.current = new Set(tags);
  }, [questions, navigate]);
  return null;
}
