import { Component, type KeyboardEvent, memo, type ReactNode, Suspense, useRef, type PointerEvent, useState } from 'react';
import { type Event, isAction, toJson } from '@tendon/protocol';
import { useChangedCount } from './changes/changed-count.ts';
import {
  type Shown,
  type TabName,
  useConversation,
  useConversationActs,
  useFact,
  WATCHED_TABS,
} from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { type Glyph, StateGlyph } from '../ui/icon.tsx';
import { Empty } from '../ui/placeholder.tsx';
import { ColouredCode } from '../code/code-block.tsx';
import { stored } from '../lib/stored.ts';
import { useServed } from './use-served.ts';
import { type PlainText, t, textKey } from '../lib/language/text.ts';
import { lazyPart } from '../lib/lazy-part.ts';

const PANELS = {
  changes: lazyPart(async () => ({ default: (await import('./changes/changes-panel.tsx')).ChangesPanel })),
  files: lazyPart(async () => ({ default: (await import('./files/files-panel.tsx')).FilesPanel })),
  terminal: lazyPart(async () => ({ default: (await import('./terminal/terminal-panel.tsx')).TerminalPanel })),
  notebook: lazyPart(async () => ({ default: (await import('./notebook-panel.tsx')).NotebookPanel })),
  browser: lazyPart(async () => ({ default: (await import('./browser-panel.tsx')).BrowserPanel })),
  app: lazyPart(async () => ({ default: (await import('./app-panel.tsx')).AppPanel })),
  plan: PlanPanel,
  timeline: lazyPart(async () => ({ default: (await import('./timeline/timeline-panel.tsx')).TimelinePanel })),
  raw: RawPanel,
} as const satisfies Record<TabName, React.ComponentType<{ readonly eventId: number | undefined; readonly isOwn?: boolean }>>;
export const TAB_NAMES = {
  changes: textKey('Changes'),
  files: textKey('Files'),
  terminal: textKey('Terminal'),
  notebook: textKey('Notebook'),
  browser: textKey('Browser'),
  app: textKey('App'),
  plan: textKey('Plan'),
  timeline: textKey('Timeline'),
  raw: textKey('Events'),
} as const satisfies Record<TabName, string>;
const TABS = Object.keys(PANELS) as TabName[];

interface WorkbenchProps {
  readonly shown: Shown;
  readonly isPhone: boolean;
  readonly pane: 'conversation' | 'panel';
  /** Whether the panel that the agent works in is shown; what the person does in here ends that. */
  readonly follow?: { readonly isOn: boolean; readonly set: (isOn: boolean) => void };
  readonly onTab: (tab: TabName | 'conversation') => void;
}

/** What the work left behind, each kind under its tab. */
export const Workbench = memo(function Workbench(props: WorkbenchProps) {
  const { shown, follow } = props;
  const Panel = PANELS[shown.tab];
  return (
    <section className="workbench" aria-label={t('Workbench')}>
      <Splitter />
      <div className="tab-bar">
        <Tabs {...props} />
        {follow && (
          <Button
            small
            className="follow only-wide"
            aria-pressed={follow.isOn}
            title={t('Shows the panel that the agent works in')}
            onClick={() => follow.set(!follow.isOn)}
          >
            {t('Follow')}
          </Button>
        )}
      </div>
      <section
        className="panel scroll"
        id="panel"
        role="tabpanel"
        aria-labelledby={`tab-${shown.tab}`}
        tabIndex={0}
        onPointerDown={() => follow?.set(false)}
        onKeyDown={() => follow?.set(false)}
      >
        <PanelBoundary key={shown.tab}>
          <Suspense>
            <Panel eventId={shown.eventId} isOwn={shown.isOwn === true} />
          </Suspense>
        </PanelBoundary>
      </section>
    </section>
  );
});

function Tabs({ shown, pane, isPhone, onTab }: WorkbenchProps) {
  const list = useRef<HTMLDivElement>(null);
  const counts = useCounts(shown.tab);
  const { isWatched } = useConversationActs();
  // Roving focus; a tab is shown only when it is chosen.
  const onKeyDown = (event: KeyboardEvent) => {
    const tabs = [...(list.current?.querySelectorAll<HTMLElement>('[role=tab]') ?? [])].filter((tab) => tab.offsetParent !== null);
    const at = tabs.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    tabs[(next + tabs.length) % tabs.length]?.focus();
  };
  return (
    <div ref={list} className="tabs" role="tablist" aria-label={t('Workbench')} onKeyDown={onKeyDown}>
      <button
        type="button"
        role="tab"
        className="only-narrow"
        aria-selected={pane === 'conversation'}
        onClick={() => onTab('conversation')}
      >
        {t('Conversation')}
      </button>
      {(isWatched ? WATCHED_TABS : TABS).map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`tab-${tab}`}
          aria-selected={tab === shown.tab && (pane === 'panel' || !isPhone)}
          aria-controls="panel"
          tabIndex={tab === shown.tab ? 0 : -1}
          onClick={() => onTab(tab)}
        >
          {t(TAB_NAMES[tab])}
          {counts[tab] && <span className="count">{counts[tab]}</span>}
        </button>
      ))}
    </div>
  );
}

function useCounts(shown: TabName): Partial<Record<TabName, string>> {
  const served = useServed().links.length;
  const files = useChangedCount(shown === 'changes') ?? 0;
  const plan = useFact(({ events }) => newestPlan(events));
  return {
    ...(files > 0 && { changes: String(files) }),
    ...(served > 0 && { app: String(served) }),
    ...(plan && { plan: t('{{done}} of {{all}}', { done: plan.filter((task) => task.status === 'done').length, all: plan.length }) }),
  };
}

/** A panel that throws takes nothing with it. */
class PanelBoundary extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="notice" role="alert">
        <b>{t('This panel stopped working. The conversation goes on.')}</b>
        <div className="mt-2 flex gap-2">
          <Button look="line" onClick={() => this.setState({})}>
            {t('Reload panel')}
          </Button>
          <Button onClick={() => void navigator.clipboard.writeText(error.stack ?? error.message)}>{t('Copy details')}</Button>
        </div>
      </div>
    );
  }
}

const DEFAULT = 43.5;
const [LEAST, MOST] = [25, 70];

/** Between stream and workbench: drag, arrows 2 %, Home and End, double click or ⏎ for the default. Stored for the next visit. */
function Splitter() {
  const [at, setAt] = useState(() => Number.parseFloat(stored.get('split') ?? '') || DEFAULT);
  const move = (percent: number) => {
    const next = Math.round(Math.min(MOST, Math.max(LEAST, percent)) * 10) / 10;
    setAt(next);
    stored.set('split', next === DEFAULT ? null : `${next}%`);
    document.documentElement.style.setProperty('--split', `${next}%`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = { ArrowLeft: at - 2, ArrowRight: at + 2, Home: LEAST, End: MOST, Enter: DEFAULT }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    move(target);
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left, width } = event.currentTarget.closest('.work')!.getBoundingClientRect();
    move(((event.clientX - left) / width) * 100);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator that can be moved is a control
    <div
      className="splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label={t('Resize the workbench')}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={Math.round(at)}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onDoubleClick={() => move(DEFAULT)}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  );
}

const MAX_LINES = 2_000;

/** One event as it is. */
function RawPanel({ eventId }: { readonly eventId: number | undefined }) {
  const { events } = useConversation().snapshot;
  const event = events.find((one) => one.id === eventId);
  if (!event) return <Empty title={t('Select an event to see its source')} />;
  const lines = JSON.stringify(toJson(event), null, 2).split('\n');
  return (
    <>
      <div className="panel-bar">
        <span className="font-medium">{t('Event {{id}}', { id: event.id })}</span>
        <span className="flex-1" />
        <Button onClick={() => void navigator.clipboard.writeText(lines.join('\n'))}>{t('Copy JSON')}</Button>
      </div>
      <pre className="raw">
        <ColouredCode text={lines.slice(0, MAX_LINES).join('\n')} path=".json" />
      </pre>
    </>
  );
}

interface Task {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly notes: string;
}

const GLYPHS: Readonly<Record<string, Glyph>> = { done: 'done', in_progress: 'running' };
const WORDS: Readonly<Record<string, PlainText>> = { done: textKey('done'), in_progress: textKey('in progress'), todo: textKey('to do') };

function taskState(status: string): string {
  const { [status]: word } = WORDS;
  return word ? t(word) : status;
}

/** The plan as it was last written; `undefined` before the first. */
function newestPlan(events: readonly Event[]): readonly Task[] | undefined {
  const event = events.findLast((one) => isAction(one) && one.action === 'task_tracking' && one.args.command === 'plan');
  return event && isAction(event) && event.action === 'task_tracking' ? event.args.task_list : undefined;
}

function PlanPanel() {
  const plan = newestPlan(useConversation().snapshot.events);
  if (!plan || plan.length === 0) return <Empty title={t('No plan yet')}>{t('The agent writes one for longer tasks.')}</Empty>;
  return (
    <ol className="plan p-4">
      {plan.map((task) => (
        <li key={task.id} className="border-b border-line py-1.5">
          <StateGlyph glyph={GLYPHS[task.status] ?? 'dot'} />
          <span className="flex-1">
            {task.title}
            {task.notes && <span className="block text-small text-ink-3">{task.notes}</span>}
          </span>
          <span className="text-small text-ink-3">{taskState(task.status)}</span>
        </li>
      ))}
    </ol>
  );
}
