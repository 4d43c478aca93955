import '../../styles/terminal.css';
import { Suspense, useMemo } from 'react';
import { useConversation, useConversationActs } from '../../conversation/open-conversation.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Late } from '../../ui/placeholder.tsx';
import { EarlierEvents } from '../earlier-events.tsx';
import { useTaken } from './taken-terminal.ts';
import { TerminalHold } from './terminal-hold.tsx';
import { commandsOf, Transcript } from './transcript.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

const AgentTerminal = lazyPart(async () => ({ default: (await import('./agent-terminal.tsx')).AgentTerminal }));
const OwnShell = lazyPart(async () => ({ default: (await import('./own-shell.tsx')).OwnShell }));

/** The agent's shell, to read or to take over, and one of the person's own beside it. */
export function TerminalPanel({ eventId, isOwn = false }: { readonly eventId: number | undefined; readonly isOwn?: boolean }) {
  const { id, isWatched, show } = useConversationActs();
  const taken = useTaken(id);
  const isMine = taken !== undefined && taken.ended === undefined;
  const choose = (own: boolean) => show({ tab: 'terminal', isOwn: own });
  return (
    <div className="terminal">
      <div className="panel-bar text-ink-2">
        <span className="segments" role="group" aria-label={t('Shell')}>
          <button type="button" aria-pressed={!isOwn} onClick={() => choose(false)}>
            {isMine ? t('Agent’s terminal') : t('Agent’s terminal (read-only)')}
          </button>
          {!isWatched && (
            <button type="button" aria-pressed={isOwn} onClick={() => choose(true)}>
              {t('Yours')}
            </button>
          )}
        </span>
        <span className="flex-1" />
        {!isOwn && <TerminalHold />}
        {(isOwn || isMine) && <span className="text-small text-ink-3">{t('F6 leaves it')}</span>}
      </div>
      {!isOwn && taken?.ended !== undefined && (
        <p className="own-shell-end">{t('This page has left the terminal ({{reason}}).', { reason: taken.ended })}</p>
      )}
      {isOwn || isMine ? (
        <Suspense fallback={<Late>{t('Starting a shell')}</Late>}>{isOwn ? <OwnShell /> : <AgentTerminal />}</Suspense>
      ) : (
        <AgentsShell eventId={eventId} onOwn={() => choose(true)} />
      )}
    </div>
  );
}

/** The commands of the agent's shell and their output. */
function AgentsShell({ eventId, onOwn }: { readonly eventId: number | undefined; readonly onOwn: () => void }) {
  const { events, outputs, gaps } = useConversation().snapshot;
  const ran = useMemo(() => commandsOf(events), [events]);
  if (ran.length === 0) {
    return (
      <>
        <EarlierEvents />
        <Empty title={gaps.length > 0 ? t('No command in what is loaded') : t('No shell yet')}>
          {t('The agent’s terminal appears with its first command.')}
          <Button look="line" className="mt-2" onClick={onOwn}>
            {t('Open your own')}
          </Button>
        </Empty>
      </>
    );
  }
  return (
    <>
      <EarlierEvents />
      <Transcript ran={ran} outputs={outputs} eventId={eventId} />
    </>
  );
}
