import { useQuery } from '@tanstack/react-query';
import type { ConversationConnection, ConversationInfo, ConversationSnapshot } from '@tendon/client';
import type { LlmMetrics } from '@tendon/protocol';
import { memo, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { ComposerBox } from '../../composer/composer-box.tsx';
import { ConversationProvider } from '../../conversation/conversation-provider.tsx';
import { type OpenConversation, type Shown, type TabName, useFact } from '../../conversation/open-conversation.ts';
import { pastWords } from '../../copy/state-sentence.ts';
import { stateNow, type StateNow } from '../../conversation/state-now.ts';
import { isDemoModel, modelLabel } from '../../lib/models.ts';
import { conversationQuery } from '../../lib/server.ts';
import { useNow } from '../../lib/use-now.ts';
import { Stream } from '../../stream/stream.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Workbench } from '../../workbench/workbench.tsx';
import { ConversationBar } from './conversation-bar.tsx';
import { ConversationNav } from './conversations-popup.tsx';
import { ConversationCommands } from './conversation-commands.tsx';
import { useConnection } from '../../conversation/use-connection.ts';
import { useFollow } from './use-follow.ts';
import { useIsWide, useWorkbench } from './use-workbench.ts';
import { costWords } from '../../copy/cost-words.ts';
import { clock, money, short } from '../../copy/figures.ts';
import { cx } from '../../ui/cx.ts';
import type { Glyph } from '../../ui/icon.tsx';
import { StatusBar } from '../status-bar.tsx';
import { t, textKey } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

const NotFound = lazyPart(async () => ({ default: (await import('../not-found.tsx')).NotFound }));

export function ConversationPage({ id }: { readonly id: string }) {
  const open = useConnection(id);
  const info = useQuery(conversationQuery(id));
  if (info.data === null || (open?.snapshot.connection.state === 'refused' && open.snapshot.connection.cause === 'unknown-conversation'))
    return (
      <Suspense>
        <NotFound isConversation />
      </Suspense>
    );
  if (!open) {
    return (
      <main className="notice">
        <Late>{t('Opening the conversation')}</Late>
      </main>
    );
  }
  return <ConversationScreen key={id} id={id} info={info.data} {...open} />;
}

interface ConversationScreenProps {
  readonly id: string;
  readonly info: ConversationInfo | undefined;
  readonly connection: ConversationConnection;
  readonly snapshot: ConversationSnapshot;
}

function ConversationScreen({ id, info, connection, snapshot }: ConversationScreenProps) {
  const workbench = useWorkbench();
  const isWide = useIsWide();
  const [shown, setShown] = useState<Shown>({ tab: 'changes' });
  const [pane, setPane] = useState<'conversation' | 'panel'>('conversation');
  const sentence = useStateNow(snapshot, info?.llm_model);
  const isConnected = snapshot.connection.state === 'connected';
  const title = snapshot.title ?? info?.title ?? t('Conversation');
  useEffect(() => {
    document.title = `${isConnected ? sentence.text : pastWords(sentence.text)} – ${title}`;
  }, [sentence.text, isConnected, title]);

  const follow = useFollow(
    snapshot,
    useCallback((target) => setShown((now) => (now.tab === target.tab && Object.keys(now).length === 1 ? now : target)), []),
  );
  const { set: setFollowed } = follow;
  const { set: setWorkbench } = workbench;
  const openPanel = useCallback(
    (target: (now: Shown) => Shown) => {
      setFollowed(false);
      setShown(target);
      setPane('panel');
      setWorkbench(true);
    },
    [setFollowed, setWorkbench],
  );
  const show = (target: Shown) => openPanel(() => target);
  const open: OpenConversation = { id, connection, snapshot, show, toConversation: () => setPane('conversation') };
  const choose = useCallback(
    (tab: TabName | 'conversation') => {
      if (tab === 'conversation') setPane('conversation');
      else openPanel((now) => ({ ...now, tab }));
    },
    [openPanel],
  );
  return (
    <ConversationProvider open={open}>
      <ConversationCommands workbench={workbench} onTab={choose} />
      <div className="screen" data-list={isWide ? 'shown' : undefined}>
        <ConversationBar title={title} info={info} workbench={workbench} isListBeside={isWide} />
        {isWide && (
          <Suspense>
            <ConversationNav current={id} />
          </Suspense>
        )}
        <main className="work" data-workbench={workbench.isShown ? 'shown' : 'hidden'} data-pane={pane}>
          <section className="conversation" aria-label={t('Conversation')}>
            <Stream title={title} />
            <ComposerBox sentence={sentence} />
          </section>
          {(workbench.isShown || workbench.isPhone) && (
            <Workbench shown={shown} isPhone={workbench.isPhone} pane={pane} follow={follow} onTab={choose} />
          )}
        </main>
        <ConversationStatus connection={snapshot.connection.state} metrics={snapshot.state.metrics} nextModel={info?.llm_model} />
      </div>
    </ConversationProvider>
  );
}

/** The sentence of the state, and since when it holds. */
function useStateNow(snapshot: ConversationSnapshot, ownModel: string | null | undefined): StateNow {
  const { state, events, gaps, status, answer } = snapshot;
  const model = ownModel ? modelLabel(ownModel) : undefined;
  const now = useNow(state.agentState === 'rate_limited');
  return useMemo(
    () => stateNow({ state, events, gaps, status, answer }, { model, now }),
    [state, events, gaps, status, answer, model, now],
  );
}

const CONNECTION = {
  connecting: ['limited', textKey('Connecting')],
  connected: ['connected', textKey('Connected')],
  reconnecting: ['limited', textKey('Reconnecting')],
  offline: ['held', textKey('Offline')],
  refused: ['failed', textKey('Not signed in')],
  closed: ['held', textKey('Closed')],
} as const satisfies Record<string, readonly [Glyph, string]>;

const ConversationStatus = memo(function ConversationStatus(props: {
  readonly connection: ConversationSnapshot['connection']['state'];
  /** A log of an earlier release, or of another server, has fewer of them. */
  readonly metrics: Partial<LlmMetrics> | undefined;
  readonly nextModel: string | null | undefined;
}) {
  const { connection, metrics, nextModel } = props;
  const lastSeen = useFact((snapshot) => (snapshot.connection.state === 'offline' ? snapshot.events.at(-1)?.timestamp : undefined));
  const [glyph, words] = CONNECTION[connection];
  return (
    <StatusBar glyph={glyph} connection={lastSeen ? t('Offline. You see everything up to {{time}}.', { time: clock(lastSeen) }) : t(words)}>
      {metrics?.accumulated_token_usage && <ContextMeter usage={metrics.accumulated_token_usage} />}
      {metrics ? <Cost metrics={metrics} /> : isDemoModel(nextModel) && <span>{t('Demo model, free')}</span>}
    </StatusBar>
  );
});

interface Usage {
  readonly context_window: number;
  readonly per_turn_token: number;
  readonly cache_read_tokens: number;
}

/** How full the model's window is: the cached part grey, the new part in the accent. */
function ContextMeter({ usage }: { readonly usage: Usage }) {
  const { context_window: size, per_turn_token: used, cache_read_tokens: read } = usage;
  if (size <= 0 || used <= 0) return null;
  const cached = Math.min(read, used);
  const percent = (tokens: number) => `${Math.min(100, (tokens / size) * 100)}%`;
  const tokens = { used: short(used), size: short(size), cached: short(cached) };
  const words = cached > 0 ? t('{{used}} of {{size}} tokens, {{cached}} cached', tokens) : t('{{used}} of {{size}} tokens', tokens);
  const isTight = used / size >= 0.8;
  return (
    <span className={cx(isTight && 'tone-wait')}>
      <span
        className="meter"
        role="img"
        aria-label={t('Context {{used}} full', { used: percent(used) })}
        data-tone={isTight ? 'wait' : undefined}
      >
        <i style={{ width: percent(cached) }} />
        <i style={{ width: percent(used - cached) }} />
      </span>
      {isTight ? t('Shortens the history soon') : words}
    </span>
  );
}

/** Where nobody knows the price, a million tokens count as a dollar of the budget. */
function Cost({ metrics }: { readonly metrics: Partial<LlmMetrics> }) {
  const { accumulated_cost: cost = 0, unpriced_tokens: unpriced = 0, max_budget_per_task: budget = null } = metrics;
  const model = metrics.accumulated_token_usage?.model;
  if (cost === 0 && isDemoModel(model)) return <span>{t('Demo model, free')}</span>;
  const { text, title = text } = costWords({ cost, unpriced, answeredBy: model });
  const isNear = budget !== null && cost + unpriced / 1e6 >= budget * 0.8;
  return (
    <span className={cx(isNear && 'tone-wait')}>
      {budget === null
        ? title
        : unpriced > 0
          ? t('{{cost}}, budget {{budget}}', { cost: title, budget: money(budget) })
          : t('{{cost}} of {{budget}}', { cost: title, budget: money(budget) })}
    </span>
  );
}
