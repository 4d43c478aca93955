import { useQuery } from '@tanstack/react-query';
import { actions } from '@tendon/client';
import { createContext, useContext, useMemo } from 'react';
import { Prose } from '../code/prose.tsx';
import { ConversationActsContext, ConversationContext, useConversationActs } from '../conversation/open-conversation.ts';
import { useConnection } from '../conversation/use-connection.ts';
import { paths } from '../lib/paths.ts';
import { tendon } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Late } from '../ui/placeholder.tsx';
import { cardOf } from './cards/card-of.tsx';
import { observed } from './cards/card.tsx';
import { projectItems } from './project-items.ts';
import { RowLine } from './row-line.tsx';
import type { SpeechItem, StepItem } from './stream-item.ts';
import { useFolds } from './use-folds.ts';
import { Link } from '../ui/link.tsx';
import { t } from '../lib/language/text.ts';

/** How many threads stand in one another here; deeper ones are read on their own pages. */
const Depth = createContext(0);
const MAX_DEPTH = 2;
const AGAIN_MS = 2_000;

/** What a delegated agent does, live, under the step that delegated it. */
export function DelegatedThread({ step: { action, observation, id: actionId } }: { readonly step: StepItem }) {
  const { id, isWatched } = useConversationActs();
  const depth = useContext(Depth);
  const isOver = observation !== undefined;
  // It reports its conversation in the end; before, the server is asked.
  const childId = observation && observed('delegate', observation)?.extras.outputs.conversation_id;
  const list = useQuery({
    queryKey: ['delegated-to', id],
    queryFn: () => tendon.conversations.delegated(id),
    enabled: typeof childId !== 'string' && !isWatched,
    retry: false,
    refetchInterval: ({ state }) => (isOver || state.data?.delegated.some((one) => one.action_id === actionId) ? false : AGAIN_MS),
  });
  const child = typeof childId === 'string' ? childId : list.data?.delegated.find((one) => one.action_id === actionId)?.conversation_id;
  // A link to this conversation shows nothing of those below it.
  if (child === undefined || isWatched) return null;
  if (depth >= MAX_DEPTH) return <ThreadLink id={child} />;
  return (
    <Depth value={depth + 1}>
      <Thread key={child} id={child} agent={action?.action === 'delegate' ? action.args.agent : t('the agent')} isOver={isOver} />
    </Depth>
  );
}

function ThreadLink({ id }: { readonly id: string }) {
  return (
    <Link className="button button-line button-small" to={paths.conversation(id)}>
      {t('Open thread')}
    </Link>
  );
}

const MAX_ROWS = 30;

type Row = StepItem | SpeechItem;

function Thread({ id, agent, isOver }: { readonly id: string; readonly agent: string; readonly isOver: boolean }) {
  const open = useConnection(id);
  const events = open?.snapshot.events;
  const rows = useMemo(
    () => projectItems(events ?? []).filter((item): item is Row => item.type === 'step' || item.type === 'speech'),
    [events],
  );
  const folds = useFolds();
  if (!open) return <Late>{t('Opening the thread')}</Late>;
  const acts = { id, connection: open.connection, show: () => undefined };
  const hasEarlier = rows.length > MAX_ROWS || open.snapshot.gaps.length > 0;
  const canStop = !isOver && !AT_REST.has(open.snapshot.state.agentState);
  return (
    <ConversationContext value={{ ...acts, snapshot: open.snapshot }}>
      <ConversationActsContext value={acts}>
        <section className="thread" aria-label={t('What {{agent}} does', { agent })}>
          {hasEarlier && <p className="text-small text-ink-3">{t('Earlier steps are in its thread')}</p>}
          <ol>
            {rows.slice(-MAX_ROWS).map((row) => (
              <ThreadRow key={row.key} row={row} live={open.snapshot.outputs.get(row.id)} folds={folds} />
            ))}
          </ol>
          <div className="flex gap-2 pt-1">
            <ThreadLink id={id} />
            {canStop && (
              <Button small onClick={() => open.connection.send(actions.stop())}>
                {t('Stop it')}
              </Button>
            )}
          </div>
        </section>
      </ConversationActsContext>
    </ConversationContext>
  );
}

const AT_REST: ReadonlySet<string> = new Set(['loading', 'finished', 'stopped', 'rejected', 'error']);

interface ThreadRowProps {
  readonly row: Row;
  readonly live: string | undefined;
  readonly folds: ReturnType<typeof useFolds>;
}

/** As in the stream, without an address of its own: that is in the thread. */
function ThreadRow({ row, live, folds }: ThreadRowProps) {
  if (row.type === 'speech') {
    return (
      <li className="thread-speech">
        <Prose text={row.text} />
      </li>
    );
  }
  const card = cardOf(row, live);
  const isOpen = card.body !== undefined && folds.isOpen(row.key, false);
  return (
    <li aria-label={card.name} data-tone={card.tone}>
      <div className="thread-row">
        {card.icon && <Icon of={card.icon} small />}
        <RowLine card={card} hasBody={card.body !== undefined} isOpen={isOpen} onToggle={() => folds.set(row.key, !isOpen)}>
          {null}
        </RowLine>
      </div>
      {isOpen && (
        <div className="event-body">
          {card.body!()}
          {row.action?.action === 'delegate' && <DelegatedThread step={row} />}
        </div>
      )}
    </li>
  );
}
