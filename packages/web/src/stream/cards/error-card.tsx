import { actions } from '@tendon/client';
import { canRequest } from '@tendon/protocol';
import { Ban, Hourglass, TriangleAlert } from 'lucide-react';
import { Well } from '../../code/output.tsx';
import { useConversation } from '../../conversation/open-conversation.ts';
import { causeWords } from '../../copy/error-words.ts';
import { cut } from '../../copy/shorten.ts';
import { clock } from '../../copy/figures.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import type { Card, ObservationCard } from './card.tsx';

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

/** What an error means, and the remedy first: going on, while that is possible. */
function RetryRemedy(props: { readonly rest: string; readonly whole: string; readonly errorId: string }) {
  const { rest, whole, errorId } = props;
  const { connection, snapshot, isWatched } = useConversation();
  const state = snapshot.state.agentState;
  const canRetry = !isWatched && state === 'error' && canRequest(state, 'running');
  return (
    <>
      {rest && <p className="-mt-1 pb-1.5 text-ink-2">{rest}</p>}
      <div className="remedy">
        {canRetry && (
          <Button look="line" onClick={() => connection.send(actions.resume())}>
            Try again
          </Button>
        )}
        <details className="min-w-0 flex-1">
          <summary className={cx('button w-fit', !canRetry && '-ml-2.5')}>Details</summary>
          <div className="pt-1">
            <Well text={[errorId, whole].filter(Boolean).join('\n')} />
          </div>
        </details>
      </div>
    </>
  );
}
