import { Component, type KeyboardEvent, type ReactNode, useMemo, useRef } from 'react';
import { changedFiles } from '../conversation/changed-files.ts';
import { type Shown, type TabName, useConversation } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { AppPanel, useServed } from './app-panel.tsx';
import { ChangesPanel } from './changes-panel.tsx';
import { FilesPanel } from './files-panel.tsx';
import { newestPlan, PlanPanel } from './plan-panel.tsx';
import { RawPanel } from './raw-panel.tsx';
import { Splitter } from './splitter.tsx';
import { TerminalPanel } from './terminal-panel.tsx';

const PANELS = {
  changes: ChangesPanel,
  files: FilesPanel,
  terminal: TerminalPanel,
  app: AppPanel,
  plan: PlanPanel,
  raw: RawPanel,
} as const satisfies Record<TabName, React.ComponentType<{ readonly eventId: number | undefined }>>;
const NAMES = { changes: 'Changes', files: 'Files', terminal: 'Terminal', app: 'App', plan: 'Plan', raw: 'Raw' } as const satisfies Record<
  TabName,
  string
>;
const TABS = Object.keys(PANELS) as TabName[];

/** What the work left behind, each kind under its tab. */
export function Workbench(props: {
  readonly shown: Shown;
  readonly isPhone: boolean;
  readonly room: 'conversation' | 'panel';
  readonly onTab: (tab: TabName | 'conversation') => void;
}) {
  const { shown, room, isPhone, onTab } = props;
  const list = useRef<HTMLDivElement>(null);
  const counts = useCounts();
  const Panel = PANELS[shown.tab];
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
    <aside className="workbench" aria-label="Workbench">
      <Splitter />
      <div ref={list} className="tabs" role="tablist" aria-label="Workbench" onKeyDown={onKeyDown}>
        <button
          type="button"
          role="tab"
          className="only-narrow"
          aria-selected={room === 'conversation'}
          onClick={() => onTab('conversation')}
        >
          Conversation
        </button>
        {TABS.map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`tab-${tab}`}
            aria-selected={tab === shown.tab && (room === 'panel' || !isPhone)}
            aria-controls="panel"
            tabIndex={tab === shown.tab ? 0 : -1}
            onClick={() => onTab(tab)}
          >
            {NAMES[tab]}
            {counts[tab] && <span className="count">{counts[tab]}</span>}
          </button>
        ))}
      </div>
      <section className="panel scroll" id="panel" role="tabpanel" aria-labelledby={`tab-${shown.tab}`} tabIndex={0}>
        <PanelBoundary key={shown.tab}>
          <Panel eventId={shown.eventId} />
        </PanelBoundary>
      </section>
    </aside>
  );
}

function useCounts(): Partial<Record<TabName, string>> {
  const { events } = useConversation().snapshot;
  const served = useServed().links.length;
  return useMemo(() => {
    const files = changedFiles(events).length;
    const plan = newestPlan(events);
    return {
      ...(files > 0 && { changes: String(files) }),
      ...(served > 0 && { app: String(served) }),
      ...(plan && { plan: `${plan.filter((task) => task.status === 'done').length} of ${plan.length}` }),
    };
  }, [events, served]);
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
        <b>This panel stopped working. The conversation goes on.</b>
        <div className="mt-2 flex gap-2">
          <Button look="line" onClick={() => this.setState({})}>
            Reload panel
          </Button>
          <Button onClick={() => void navigator.clipboard.writeText(error.stack ?? error.message)}>Copy details</Button>
        </div>
      </div>
    );
  }
}
