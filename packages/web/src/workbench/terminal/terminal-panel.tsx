import '../../styles/terminal.css';
import { type Event, isAction, isObservation } from '@tendon/protocol';
import { lazy, memo, Suspense, useEffect, useMemo, useRef } from 'react';
import { AnsiText } from '../../code/output.tsx';
import { useConversation } from '../../conversation/open-conversation.ts';
import { cut } from '../../copy/shorten.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Late } from '../../ui/placeholder.tsx';
import { EarlierEvents } from '../earlier-events.tsx';
import { useTaken } from './taken-terminal.ts';
import { TerminalHold } from './terminal-hold.tsx';
import { t } from '../../lib/language/text.ts';

const MAX_COMMANDS = 200;
const MAX_COMMAND = 4_000;
const MAX_OUTPUT = 20_000;

interface Ran {
  readonly id: number;
  readonly folder: string;
  readonly command: string;
  readonly output: string;
}

const AgentTerminal = lazy(async () => ({ default: (await import('./agent-terminal.tsx')).AgentTerminal }));
const OwnShell = lazy(async () => ({ default: (await import('./own-shell.tsx')).OwnShell }));

/** The agent's shell, to read or to take over, and one of the person's own beside it. */
export function TerminalPanel({ eventId, isOwn = false }: { readonly eventId: number | undefined; readonly isOwn?: boolean }) {
  const { id, isWatched, show } = useConversation();
  const taken = useTaken(id);
  const isMine = taken !== undefined && taken.ended === undefined;
  const choose = (own: boolean) => show({ tab: 'terminal', isOwn: own });
  return (
    <div className="terminal">
      <div className="panel-bar text-ink-2">
        <span className="segments" role="group" aria-label={t('Shell')}>
          <button type="button" aria-pressed={!isOwn} onClick={() => choose(false)}>
            {isMine ? t('Agent’s shell') : t('Agent’s shell, read only')}
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
  const end = useRef<HTMLPreElement>(null);
  const newest = ran.at(-1)?.id;
  useEffect(() => {
    const wanted = eventId === undefined ? null : document.getElementById(`ran-${eventId}`);
    if (wanted) wanted.scrollIntoView({ block: 'center' });
    else end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [eventId, newest]);
  if (ran.length === 0) {
    return (
      <>
        <EarlierEvents />
        <Empty title={gaps.length > 0 ? t('No command in what is loaded') : t('No shell yet')}>
          {t('The agent’s shell appears with its first command.')}
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
      <pre ref={end} className="transcript scroll">
        {ran.slice(-MAX_COMMANDS).map(({ output, ...one }) => (
          <RanCommand key={one.id} {...one} output={outputs.get(one.id) ?? output} />
        ))}
      </pre>
    </>
  );
}

/** A block of its own, so that the next command lays out nothing of those before it. */
const RanCommand = memo(function RanCommand({ id, folder, command, output }: Ran) {
  return (
    <span id={`ran-${id}`}>
      <span className="text-ink-3">{folder} $</span> <span className="text-ink">{command}</span>
      {'\n'}
      <AnsiText text={closed(output.slice(-MAX_OUTPUT))} />
    </span>
  );
});

function commandsOf(events: readonly Event[]): readonly Ran[] {
  const ran = new Map<number, Ran>();
  let folder = '/workspace';
  for (const event of events) {
    // What waits for a decision has not run, and what was decided comes again.
    if (isAction(event) && event.action === 'run' && event.args.confirmation_state !== 'awaiting_confirmation')
      ran.set(event.id, { id: event.id, folder, command: cut(event.args.command, MAX_COMMAND), output: '' });
    if (!isObservation(event) || event.observation !== 'run') continue;
    const started = event.cause === undefined ? undefined : ran.get(event.cause);
    const id = started?.id ?? event.id;
    ran.set(id, { id, folder: started?.folder ?? folder, command: started?.command ?? event.extras.command, output: event.content });
    folder = event.extras.metadata.working_dir ?? folder;
  }
  return [...ran.values()];
}

function closed(output: string): string {
  return output === '' || output.endsWith('\n') ? output : `${output}\n`;
}
