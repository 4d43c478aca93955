import { actions } from '@tendon/client';
import { canRequest } from '@tendon/protocol';
import { memo, useLayoutEffect, useRef } from 'react';
import { type TabName, useConversationActs, useFact } from '../../conversation/open-conversation.ts';
import { saveTrajectory } from '../../conversation/save-trajectory.ts';
import { type Command, useCommands } from '../../lib/commands.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { useServed } from '../../workbench/use-served.ts';
import { TAB_NAMES } from '../../workbench/workbench.tsx';
import { takeTerminal } from '../../workbench/terminal/taken-terminal.ts';
import { FindInConversation } from './find-in-conversation.tsx';
import type { WorkbenchState } from './use-workbench.ts';
import { navigate } from '../../lib/address.tsx';
import { t } from '../../lib/language/text.ts';

const TABS: readonly TabName[] = ['changes', 'files', 'terminal', 'notebook', 'browser', 'app', 'plan', 'timeline', 'raw'];
const TWICE_MS = 600;

interface ConversationCommandsProps {
  readonly workbench: WorkbenchState;
  readonly onTab: (tab: TabName) => void;
}

/** What can be done with this conversation, for the palette and the keyboard. */
export const ConversationCommands = memo(function ConversationCommands({ workbench, onTab }: ConversationCommandsProps) {
  const { id, show } = useConversationActs();
  const served = useServed();
  useCommands('conversation', [
    ...useAgentCommands(),
    here('share', t('Share read-only'), () => document.getElementById('share')?.click()),
    here('own-shell', t('Open your shell'), () => show({ tab: 'terminal', isOwn: true })),
    here('take-over', t('Take over the agent’s terminal'), () => {
      takeTerminal(id);
      show({ tab: 'terminal' });
    }),
    here('export', t('Download as JSON'), () => void saveTrajectory(id)),
    here(
      'copy-conversation-link',
      t('Copy a link to the conversation'),
      () => void navigator.clipboard.writeText(tendon.baseUrl + paths.conversation(id)),
    ),
    {
      id: 'workbench',
      title: workbench.isShown ? t('Hide the workbench') : t('Show the workbench'),
      group: 'Here',
      keys: ['mod+\\'],
      run: workbench.toggle,
    },
    { id: 'jump', title: t('Jump between conversation and workbench'), group: 'Go to', keys: ['mod+j'], run: jump },
    ...TABS.map((tab, index) => ({
      id: `tab-${tab}`,
      title: t('Go to {{tab}}', { tab: t(TAB_NAMES[tab]) }),
      group: 'Go to' as const,
      keys: [`g ${index + 1}`],
      when: 'stream' as const,
      run: () => onTab(tab),
    })),
    ...served.links.map(({ port, link }) =>
      here(`open-app-${port}`, t('Open app on port {{port}}', { port }), () => void window.open(link, '_blank', 'noopener')),
    ),
    { id: 'home', title: t('All conversations'), group: 'Go to', run: () => navigate(paths.home) },
  ]);
  // Together with the page: the focus is not taken from what somebody focused since.
  useLayoutEffect(focusComposer, []);
  return <FindInConversation id={id} />;
});

const here = (id: string, title: string, run: () => void): Command => ({ id, title, group: 'Here', run });

/** Pause, resume, stop, and the way back to the composer; Esc twice within 600 ms stops as well. */
function useAgentCommands(): readonly Command[] {
  const { connection } = useConversationActs();
  const lastEscape = useRef(0);
  const now = useFact((snapshot) => snapshot.state.agentState);
  const canPause = canRequest(now, 'paused') && now !== 'paused';
  const canResume = (now === 'paused' || now === 'error' || now === 'stopped') && canRequest(now, 'running');
  const isAtWork = now === 'running' || now === 'rate_limited' || now === 'loading' || now === 'awaiting_user_confirmation';
  const stop = () => connection.send(actions.stop());
  const escape = () => {
    const at = performance.now();
    if (isAtWork && at - lastEscape.current < TWICE_MS) stop();
    lastEscape.current = at;
    focusComposer();
  };
  return [
    { ...here('pause', t('Pause'), () => void connection.send(actions.pause())), keys: ['mod+.'], enabled: canPause },
    { ...here('resume', t('Resume'), () => void connection.send(actions.resume())), keys: ['mod+.'], enabled: canResume && !canPause },
    { id: 'stop', title: t('Stop'), group: 'Here', keys: ['ctrl+c'], enabled: isAtWork, run: () => !hasSelection() && stop() },
    { ...here('escape', t('Back to the message'), escape), keys: ['escape'], listed: false },
    { ...here('compose', t('Write a message'), focusComposer), keys: ['i', '/'], when: 'stream' },
    here('shorten', t('Compact the conversation'), () => void connection.send(actions.shortenHistory())),
  ];
}

function focusComposer(): void {
  document.getElementById('composer')?.focus();
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
