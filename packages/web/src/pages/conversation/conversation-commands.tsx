import { actions } from '@tendon/client';
import { canRequest } from '@tendon/protocol';
import { useEffect, useRef } from 'react';
import { useNavigate } from 'react-router';
import { type TabName, useConversation } from '../../conversation/open-conversation.ts';
import { saveTrajectory } from '../../conversation/save-trajectory.ts';
import { useCommands } from '../../lib/commands.ts';
import { paths } from '../../lib/paths.ts';
import { useServed } from '../../workbench/use-served.ts';
import type { WorkbenchState } from './use-workbench.ts';

const TABS: readonly TabName[] = ['changes', 'files', 'terminal', 'app', 'plan', 'raw'];
const TWICE_MS = 600;

/** What can be done with this conversation, for the palette and the keyboard. */
export function ConversationCommands({ workbench, onTab }: { readonly workbench: WorkbenchState; readonly onTab: (tab: TabName) => void }) {
  const { id, connection, snapshot } = useConversation();
  const navigate = useNavigate();
  const served = useServed();
  const lastEscape = useRef(0);
  const now = snapshot.state.agentState;
  const canPause = canRequest(now, 'paused') && now !== 'paused';
  const canResume = (now === 'paused' || now === 'error' || now === 'stopped') && canRequest(now, 'running');
  const isAtWork = now === 'running' || now === 'rate_limited' || now === 'loading' || now === 'awaiting_user_confirmation';
  const stop = () => connection.send(actions.stop());
  const escape = () => {
    const at = performance.now();
    if (isAtWork && at - lastEscape.current < TWICE_MS) stop();
    lastEscape.current = at;
    document.getElementById('composer')?.focus();
  };
  useCommands('conversation', [
    { id: 'pause', title: 'Pause', group: 'Here', keys: ['mod+.'], enabled: canPause, run: () => void connection.send(actions.pause()) },
    {
      id: 'resume',
      title: 'Resume',
      group: 'Here',
      keys: ['mod+.'],
      enabled: canResume && !canPause,
      run: () => void connection.send(actions.resume()),
    },
    { id: 'stop', title: 'Stop', group: 'Here', keys: ['ctrl+c'], enabled: isAtWork, run: () => !hasSelection() && stop() },
    { id: 'escape', title: 'Back to the composer', group: 'Here', keys: ['escape'], listed: false, run: escape },
    {
      id: 'compose',
      title: 'To the composer',
      group: 'Here',
      keys: ['i', '/'],
      when: 'stream',
      run: () => document.getElementById('composer')?.focus(),
    },
    { id: 'shorten', title: 'Shorten the history now', group: 'Here', run: () => void connection.send(actions.shortenHistory()) },
    { id: 'share', title: 'Share read-only', group: 'Here', run: () => document.getElementById('share')?.click() },
    { id: 'export', title: 'Export the events', group: 'Here', run: () => void saveTrajectory(id) },
    {
      id: 'copy-conversation-link',
      title: 'Copy a link to the conversation',
      group: 'Here',
      run: () => void navigator.clipboard.writeText(location.href),
    },
    {
      id: 'workbench',
      title: workbench.isShown ? 'Hide the workbench' : 'Show the workbench',
      group: 'Here',
      keys: ['mod+\\'],
      run: workbench.toggle,
    },
    { id: 'jump', title: 'Between stream and workbench', group: 'Go to', keys: ['mod+j'], run: jump },
    ...TABS.map((tab, index) => ({
      id: `tab-${tab}`,
      title: `Tab: ${tab}`,
      group: 'Go to' as const,
      keys: [`g ${index + 1}`],
      when: 'stream' as const,
      run: () => onTab(tab),
    })),
    ...served.links.map(({ port, link }) => ({
      id: `open-app-${port}`,
      title: `Open app on port ${port}`,
      group: 'Here' as const,
      run: () => void window.open(link, '_blank', 'noopener'),
    })),
    { id: 'home', title: 'All conversations', group: 'Go to', run: () => void navigate(paths.home) },
  ]);
  useEffect(() => {
    document.getElementById('composer')?.focus();
  }, []);
  return null;
}

function hasSelection(): boolean {
  const field = document.activeElement;
  if (field instanceof HTMLTextAreaElement && field.selectionStart !== field.selectionEnd) return true;
  return getSelection()?.isCollapsed === false;
}

function jump(): void {
  const isInStream = document.activeElement?.closest('.conversation') !== null;
  document.querySelector<HTMLElement>(isInStream ? '[role=tab][aria-selected=true]' : '.stream')?.focus();
}
