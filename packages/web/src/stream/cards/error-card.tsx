import { Ban, Hourglass, TriangleAlert } from 'lucide-react';
import { causeWords } from '../../copy/error-words.ts';
import { cut } from '../../copy/cut.ts';
import { clock } from '../../copy/times.ts';
import type { Card, ObservationCard } from './card.ts';
import { RetryRemedy } from './retry-remedy.tsx';

export const errorCard: ObservationCard<'error'> = ({ content, extras, timestamp }) => failureCard(content, extras.error_id, timestamp);

export const rejectedCard: ObservationCard<'user_rejected'> = ({ content, timestamp }) => ({
  icon: Ban,
  verb: 'You rejected this',
  detail: cut(content, 300),
  facts: [{ text: clock(timestamp) }],
  name: `You rejected this ${cut(content, 300)}`,
  open: 'never',
});

/** `error` and `rate_limited` are rows; other states are lines or nothing. */
export const stateCard: ObservationCard<'agent_state_changed'> = ({ extras, timestamp }) => {
  if (extras.agent_state === 'error') return failureCard(extras.reason, '', timestamp);
  const verb = 'The model asked for a pause';
  return {
    icon: Hourglass,
    verb,
    detail: extras.reason,
    facts: [{ text: clock(timestamp) }],
    tone: 'wait',
    name: `${verb} ${extras.reason}`,
    open: 'never',
  };
};

function failureCard(text: string, errorId: string, timestamp: string): Card {
  const [cause, ...rest] = text.trim().split(/(?<=[.!?])\s+|\n/);
  const words = sentence(causeWords(cause ?? '', 14));
  return {
    icon: TriangleAlert,
    verb: words,
    strong: 'plain',
    facts: [{ text: clock(timestamp) }],
    tone: 'bad',
    name: words,
    open: 'always',
    copy: [errorId, text].filter(Boolean).join('\n'),
    body: () => <RetryRemedy rest={cut(rest.join(' '), 2_000)} whole={text} errorId={errorId} />,
  };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
