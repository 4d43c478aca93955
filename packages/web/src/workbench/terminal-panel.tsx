import { type Event, isAction, isObservation } from '@tendon/protocol';
import { useEffect, useMemo, useRef } from 'react';
import { AnsiText } from '../code/output.tsx';
import { useConversation } from '../conversation/open-conversation.ts';
import { Empty } from '../ui/placeholder.tsx';

const MAX_COMMANDS = 200;
const MAX_OUTPUT = 20_000;

interface Ran {
  readonly id: number;
  readonly folder: string;
  readonly command: string;
  readonly output: string;
}

/** The commands of the agent's shell and their output; read only. */
export function TerminalPanel({ eventId }: { readonly eventId: number | undefined }) {
  const { events, outputs } = useConversation().snapshot;
  const ran = useMemo(() => commandsOf(events), [events]);
  const end = useRef<HTMLPreElement>(null);
  const newest = ran.at(-1)?.id;
  useEffect(() => {
    const wanted = eventId === undefined ? null : document.getElementById(`ran-${eventId}`);
    if (wanted) wanted.scrollIntoView({ block: 'center' });
    else end.current?.parentElement?.scrollTo({ top: end.current.scrollHeight });
  }, [eventId, newest]);
  if (ran.length === 0) return <Empty title="No shell yet">The agent’s shell appears with its first command.</Empty>;
  return (
    <>
      <div className="panel-bar text-ink-2">Agent’s shell, read only</div>
      <pre ref={end} className="transcript">
        {ran.slice(-MAX_COMMANDS).map(({ id, folder, command, output }) => (
          <span key={id} id={`ran-${id}`}>
            <span className="text-ink-3">{folder} $</span> <span className="text-ink">{command}</span>
            {'\n'}
            <AnsiText text={closed((outputs.get(id) ?? output).slice(-MAX_OUTPUT))} />
          </span>
        ))}
      </pre>
    </>
  );
}

function commandsOf(events: readonly Event[]): readonly Ran[] {
  const ran = new Map<number, Ran>();
  let folder = '/workspace';
  for (const event of events) {
    if (isAction(event) && event.action === 'run') ran.set(event.id, { id: event.id, folder, command: event.args.command, output: '' });
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
