import { useMutation, useQueryClient } from '@tanstack/react-query';
import { actions } from '@tendon/client';
import { canRequest, type Event, type Observation } from '@tendon/protocol';
import { Ban, CirclePause, Hourglass, TriangleAlert } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Well } from '../../code/output.tsx';
import { useConversation, useConversationActs } from '../../conversation/open-conversation.ts';
import { causeWords, providerWords, troubleWords } from '../../copy/error-words.ts';
import { type ReachedLimit, reachedLimit } from '../../copy/reached-limit.ts';
import { cut } from '../../copy/shorten.ts';
import { clock } from '../../copy/figures.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import type { Card, ObservationCard } from './card.tsx';
import { Link } from '../../ui/link.tsx';
import { t } from '../../lib/language/text.ts';

export const errorCard: ObservationCard<'error'> = ({ id, content, extras, timestamp }) =>
  failureCard({ id, text: content, errorId: extras.error_id, timestamp });

export const rejectedCard: ObservationCard<'user_rejected'> = ({ content, timestamp }) => ({
  icon: Ban,
  verb: t('You rejected this'),
  detail: cut(content, 300),
  facts: [{ text: clock(timestamp) }],
  name: `${t('You rejected this')} ${cut(content, 300)}`,
  open: 'never',
});

/** `error` and `rate_limited` are rows; other states are lines or nothing. */
export function stateCard({ id, content, extras, timestamp }: Observation<'agent_state_changed'>, attempts = 1): Card {
  const isNamed = extras.reason.startsWith('STATUS$');
  const limit = extras.agent_state === 'error' ? reachedLimit(extras.reason) : undefined;
  if (limit) return limitCard({ id, limit, whole: extras.reason, timestamp });
  if (extras.agent_state === 'error')
    return failureCard({ id, text: (isNamed && content) || extras.reason, errorId: isNamed ? extras.reason : '', timestamp });
  const repeats = attempts > 1 ? [t('{{attempts}} times in a row', { attempts })] : [];
  const verb = troubleWords(extras.reason);
  const words = providerWords(extras.reason);
  return {
    icon: Hourglass,
    verb,
    detail: words,
    facts: [...repeats.map((text) => ({ text })), { text: clock(timestamp) }],
    tone: 'wait',
    name: [`${verb} ${words}`, ...repeats].join(', '),
    open: 'newest',
    body: () => <PauseRemedy eventId={id} words={words} />,
  };
}

/** A limit of the person's own is no failure: it goes on when they say so. */
function limitCard(props: { readonly id: number; readonly limit: ReachedLimit; readonly whole: string; readonly timestamp: string }): Card {
  const { id, limit, whole, timestamp } = props;
  return {
    icon: CirclePause,
    verb: limit.words,
    strong: 'whole',
    facts: [{ text: clock(timestamp) }],
    tone: 'wait',
    name: limit.words,
    open: 'always',
    copy: whole,
    body: () => <LimitRemedy eventId={id} isBudget={limit.isBudget} whole={whole} />,
  };
}

function LimitRemedy({ eventId, isBudget, whole }: { readonly eventId: number; readonly isBudget: boolean; readonly whole: string }) {
  const { connection } = useConversationActs();
  const canGoOn = useCanRetry(eventId);
  return (
    <>
      {isBudget && <p className="-mt-1 pb-1.5 text-ink-2">{whole}</p>}
      {canGoOn && (
        <div className="remedy">
          <Button look="line" onClick={() => connection.send(actions.resume())}>
            {t('Continue')}
          </Button>
          <Link className="button button-line" to={paths.settingsPage('limits')}>
            {isBudget ? t('Raise the budget') : t('Change the limit')}
          </Link>
        </div>
      )}
    </>
  );
}

/** Longer words than the row itself has a place for. */
const LONG_WORDS = 80;

/** While the model is to be tried again another one can be chosen: the next try uses it. */
function PauseRemedy({ eventId, words }: { readonly eventId: number; readonly words: string }) {
  const { snapshot, isWatched } = useConversation();
  const isOver = useMemo(() => snapshot.events.some((event) => event.id > eventId && isRunning(event)), [snapshot.events, eventId]);
  const isPaused = snapshot.state.agentState === 'rate_limited' && !isOver;
  return (
    <>
      {(!isPaused || words.length > LONG_WORDS) && <p className="pb-1.5 text-ink-2">{cut(words, 2_000)}</p>}
      {isPaused && !isWatched && (
        <div className="remedy">
          <Link className="button button-line" to={paths.settings}>
            {t('Use another model')}
          </Link>
        </div>
      )}
    </>
  );
}

interface FailureFacts {
  /** Of the event. */
  readonly id: number;
  readonly text: string;
  readonly errorId: string;
  readonly timestamp: string;
}

function failureCard({ id, text, errorId, timestamp }: FailureFacts): Card {
  const [cause, ...rest] = text.trim().split(/(?<=[.!?])\s+|\n/);
  const words = sentence(causeWords(cause ?? '', 14));
  return {
    icon: TriangleAlert,
    verb: words,
    strong: 'whole',
    facts: [{ text: clock(timestamp) }],
    tone: 'bad',
    name: words,
    open: 'always',
    copy: [errorId, text].filter(Boolean).join('\n'),
    body: () => <RetryRemedy eventId={id} rest={cut(rest.join(' '), 2_000)} whole={text} errorId={errorId} />,
  };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const REFUSED_KEY = 'STATUS$ERROR_LLM_AUTHENTICATION';

/** Stores a key for the model of the settings; the turn goes on with it. */
function AnotherKey({ onStored }: { readonly onStored: () => void }) {
  const [key, setKey] = useState('');
  const queries = useQueryClient();
  const use = useMutation({
    mutationFn: () => tendon.settings.patch({ llm_api_key: key.trim() }),
    onSuccess: () => {
      onStored();
      return queries.invalidateQueries({ queryKey: ['settings'] });
    },
  });
  return (
    <form
      className="remedy pb-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim().length >= 8) use.mutate();
      }}
    >
      <input
        className="field max-w-80"
        type="password"
        autoComplete="off"
        aria-label={t('Another key')}
        placeholder={t('Paste another key')}
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <Button type="submit" look="line" disabled={key.trim().length < 8} isBusy={use.isPending}>
        {t('Use it and try again')}
      </Button>
      {use.isError && (
        <p role="alert" className="text-small text-bad">
          {use.error.message}
        </p>
      )}
    </form>
  );
}

const isRunning = (event: Event): boolean =>
  'observation' in event && event.observation === 'agent_state_changed' && event.extras.agent_state === 'running';

/** Whether the agent still rests because of this event, and the person may set it going. */
function useCanRetry(eventId: number): boolean {
  const { snapshot, isWatched } = useConversation();
  const state = snapshot.state.agentState;
  const isOver = useMemo(() => snapshot.events.some((event) => event.id > eventId && isRunning(event)), [snapshot.events, eventId]);
  return !isWatched && !isOver && state === 'error' && canRequest(state, 'running');
}

/** What an error means, and the remedy first: going on, while that is possible. */
function RetryRemedy(props: { readonly eventId: number; readonly rest: string; readonly whole: string; readonly errorId: string }) {
  const { eventId, rest, whole, errorId } = props;
  const { connection } = useConversationActs();
  const canRetry = useCanRetry(eventId);
  const retry = () => connection.send(actions.resume());
  return (
    <>
      {rest && <p className="-mt-1 pb-1.5 text-ink-2">{rest}</p>}
      {canRetry && errorId === REFUSED_KEY && <AnotherKey onStored={retry} />}
      <div className="remedy">
        {canRetry && (
          <Button look="line" onClick={retry}>
            {t('Try again')}
          </Button>
        )}
        {canRetry && errorId.startsWith('STATUS$ERROR_LLM') && (
          <Link className="button button-line" to={paths.settings}>
            {t('Use another model')}
          </Link>
        )}
        <details className="min-w-0 flex-1">
          <summary className={cx('button w-fit', !canRetry && '-ml-2.5')}>{t('Details')}</summary>
          <div className="pt-1">
            <Well text={[errorId, whole].filter(Boolean).join('\n')} />
          </div>
        </details>
      </div>
    </>
  );
}
