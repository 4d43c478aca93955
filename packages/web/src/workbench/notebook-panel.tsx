import '../styles/notebook.css';
import { type Event, isAction, isObservation } from '@tendon/protocol';
import { useEffect, useMemo, useRef } from 'react';
import { ColouredCode } from '../code/code-block.tsx';
import { Well } from '../code/output.tsx';
import { isInlinePicture } from '../code/picture.ts';
import { useConversation } from '../conversation/open-conversation.ts';
import { clock } from '../copy/figures.ts';
import { Empty } from '../ui/placeholder.tsx';
import { EarlierEvents } from './earlier-events.tsx';
import { isExecuted } from './is-executed.ts';
import { type PlainText, t, textKey } from '../lib/language/text.ts';

const MAX_CELLS = 100;
const MAX_CODE = 20_000;

interface Cell {
  readonly id: number;
  readonly number: number;
  readonly at: string;
  readonly code: string;
  readonly output: string;
  readonly plots: readonly string[];
  readonly state: 'running' | 'ran' | 'failed';
}

/** The Python that the agent has run, cell by cell, with what it printed and plotted. */
export function NotebookPanel({ eventId }: { readonly eventId: number | undefined }) {
  const { events, outputs, gaps } = useConversation().snapshot;
  const cells = useMemo(() => cellsOf(events), [events]);
  const list = useRef<HTMLOListElement>(null);
  const newest = cells.at(-1)?.id;
  useEffect(() => {
    const wanted = eventId === undefined ? list.current?.lastElementChild : document.getElementById(`cell-${eventId}`);
    wanted?.scrollIntoView({ block: 'nearest' });
  }, [eventId, newest]);
  if (cells.length === 0) {
    return (
      <>
        <EarlierEvents />
        <Empty title={gaps.length > 0 ? t('No cells in what is loaded') : t('No cells yet')}>
          {t('Python that the agent runs appears here.')}
        </Empty>
      </>
    );
  }
  return (
    <>
      <EarlierEvents />
      <ol ref={list} className="notebook" aria-label={t('Cells')}>
        {cells.slice(-MAX_CELLS).map((cell) => (
          <CellRow key={cell.id} cell={cell} name={gaps.length > 0 ? clock(cell.at) : String(cell.number)} live={outputs.get(cell.id)} />
        ))}
      </ol>
    </>
  );
}

interface CellRowProps {
  readonly cell: Cell;
  /** Its number; its time while earlier ones may not be loaded. */
  readonly name: string;
  readonly live: string | undefined;
}

function CellRow({ cell, name, live }: CellRowProps) {
  const { id, code, plots, state } = cell;
  const output = state === 'running' ? (live ?? '') : cell.output;
  return (
    <li id={`cell-${id}`} aria-label={t('Cell {{name}}, {{state}}', { name, state: t(WORDS[state]) })}>
      <span className="cell-number" data-tone={state === 'failed' ? 'bad' : undefined}>
        {name}
      </span>
      <div className="min-w-0">
        <pre className="well scroll" tabIndex={0} role="group" aria-label={t('Code of cell {{name}}', { name })}>
          <ColouredCode text={code.slice(0, MAX_CODE)} path=".py" />
        </pre>
        {state === 'running' && <p className="text-small text-ink-3">{t('Running')}</p>}
        {output.trim() && <Well text={output} rows />}
        {plots.map((plot, index) => (
          <img key={index} src={plot} alt={t('Plot {{n}} of cell {{name}}', { n: index + 1, name })} loading="lazy" decoding="async" />
        ))}
      </div>
    </li>
  );
}

const WORDS = { running: textKey('running'), ran: textKey('ran'), failed: textKey('failed') } as const satisfies Record<
  Cell['state'],
  PlainText
>;

function cellsOf(events: readonly Event[]): readonly Cell[] {
  const cells = new Map<number, Cell>();
  for (const event of events) {
    if (isAction(event) && event.action === 'run_ipython' && isExecuted(event)) {
      cells.set(event.id, {
        id: event.id,
        at: event.timestamp,
        number: cells.size + 1,
        code: event.args.code,
        output: '',
        plots: [],
        state: 'running',
      });
    }
    if (!isObservation(event) || event.cause === undefined) continue;
    const cell = cells.get(event.cause);
    if (!cell) continue;
    const plots = event.observation === 'run_ipython' ? (event.extras.image_urls ?? []).filter(isInlinePicture) : [];
    const isDone = event.observation === 'run_ipython' && event.success !== false;
    cells.set(cell.id, { ...cell, output: event.content, plots, state: isDone ? 'ran' : 'failed' });
  }
  return [...cells.values()];
}
