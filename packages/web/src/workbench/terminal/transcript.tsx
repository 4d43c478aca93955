import { type Event, isAction, isObservation } from '@tendon/protocol';
import { memo, useLayoutEffect, useRef } from 'react';
import { AnsiText } from '../../code/output.tsx';
import { cut } from '../../copy/shorten.ts';
import { isExecuted } from '../is-executed.ts';

export interface Ran {
  readonly id: number;
  readonly folder: string;
  readonly command: string;
  readonly output: string;
}

const MAX_COMMANDS = 200;
const MAX_COMMAND = 4_000;
const MAX_OUTPUT = 20_000;
/** Old commands leave in blocks of so many: if one left for each that comes, all that is between them would move with each. */
const BLOCK = 25;

interface TranscriptProps {
  readonly ran: readonly Ran[];
  /** What those that run have printed so far. */
  readonly outputs: ReadonlyMap<number, string>;
  /** The command that is to be in view; default: the newest. */
  readonly eventId: number | undefined;
}

/** The newest commands and their output, in blocks: the next command draws and lays out those of the last block alone. */
export function Transcript({ ran, outputs, eventId }: TranscriptProps) {
  const end = useRef<HTMLPreElement>(null);
  const newest = ran.at(-1)?.id;
  // In the frame that shows it: scrolled after that, each command would be drawn twice.
  useLayoutEffect(() => {
    const wanted = eventId === undefined ? null : document.getElementById(`ran-${eventId}`);
    if (wanted) wanted.scrollIntoView({ block: 'center' });
    else end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [eventId, newest]);
  return (
    <pre ref={end} className="transcript scroll">
      {blocksOf(ran).map((block) => (
        <Block key={block[0]!.id} block={block.map((one) => withOutput(one, outputs.get(one.id)))} />
      ))}
    </pre>
  );
}

function withOutput(one: Ran, output: string | undefined): Ran {
  return output === undefined ? one : { ...one, output };
}

/** A part of it stays in its block, however many come. */
function blocksOf(ran: readonly Ran[]): readonly (readonly Ran[])[] {
  const blocks: (readonly Ran[])[] = [];
  const first = Math.max(0, Math.ceil((ran.length - MAX_COMMANDS - BLOCK) / BLOCK) * BLOCK);
  for (let at = first; at < ran.length; at += BLOCK) blocks.push(ran.slice(at, at + BLOCK));
  return blocks;
}

const Block = memo(
  function Block({ block }: { readonly block: readonly Ran[] }) {
    return (
      <span>
        {block.map((one) => (
          <RanCommand key={one.id} {...one} />
        ))}
      </span>
    );
  },
  (before, now) => before.block.length === now.block.length && before.block.every((one, at) => isSame(one, now.block[at]!)),
);

function isSame(one: Ran, other: Ran): boolean {
  return one.id === other.id && one.output === other.output && one.command === other.command && one.folder === other.folder;
}

const RanCommand = memo(function RanCommand({ id, folder, command, output }: Ran) {
  return (
    <span id={`ran-${id}`}>
      <span className="text-ink-3">{folder} $</span> <span className="text-ink">{command}</span>
      {'\n'}
      <AnsiText text={closed(output.slice(-MAX_OUTPUT))} />
    </span>
  );
});

export function commandsOf(events: readonly Event[]): readonly Ran[] {
  const ran = new Map<number, Ran>();
  let folder = '/workspace';
  for (const event of events) {
    if (isAction(event) && event.action === 'run' && isExecuted(event))
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
