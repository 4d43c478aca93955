// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, configure, render, screen, waitFor } from '@testing-library/react';
import { fromJson, type WorkspaceChanges } from '@tendon/protocol';
import { INITIAL_STATE } from '@tendon/protocol/reduce';
import { afterEach, expect, it } from 'vitest';
import { ConversationContext, type OpenConversation, type TabName } from '../../conversation/open-conversation.ts';
import { Workbench } from '../workbench.tsx';

afterEach(cleanup);
configure({ asyncUtilTimeout: 45_000 });

const ROWS = [
  { observation: 'edit', extras: { path: '/workspace/a.ts' } },
  { observation: 'run', extras: { command: 'make', metadata: { exit_code: 0 } } },
  { action: 'message', args: { content: 'Made.' } },
];

/** Three files differ after the second event; what a later one changed nobody has looked up. */
function workbench({ isWatched = false } = {}) {
  const compared: WorkspaceChanges & { after: number } = {
    ...{ state: 'compared', base: { kind: 'checkpoint', checkpoint: 0, made_at: null, note: null }, after: 1 },
    ...{ count: 3, files: [] },
  };
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  queries.setQueryData(['changes', 'c', 'start', false, 1], compared);
  queries.setQueryData(['changes', 'c', 'repository', false, 1], { repository: null });
  queries.setQueryData(['web-hosts', 'c', ''], { hosts: {} });
  const draw = (tab: TabName, more: readonly object[] = []) => {
    const events = [...ROWS, ...more].map((row, id) => fromJson({ id, timestamp: '', source: 'agent', content: '', ...row }));
    const snapshot = { state: INITIAL_STATE, events, gaps: [], notices: [], loaded: true, outbox: [] };
    const connection = { subscribe: () => () => undefined, getSnapshot: () => snapshot };
    const open = { id: 'c', snapshot, connection, show: () => undefined, isWatched } as unknown as OpenConversation;
    return (
      <QueryClientProvider client={queries}>
        <ConversationContext value={open}>
          <Workbench shown={{ tab }} isPhone={false} pane="panel" follow={{ isOn: false, set: () => undefined }} onTab={() => undefined} />
        </ConversationContext>
      </QueryClientProvider>
    );
  };
  const tab = () => screen.getByRole('tab', { name: /^Changes/ }).textContent;
  return { draw, tab };
}

it('CL1192: the number of the Changes tab is that of its panel, as long as nothing newer may have changed a file', async () => {
  const { draw, tab } = workbench();
  const { rerender } = render(draw('plan'));
  expect(tab()).toBe('Changes');
  rerender(draw('changes'));
  await waitFor(() => expect(tab()).toBe('Changes3'));
  rerender(draw('plan'));
  expect(tab()).toBe('Changes3');
  rerender(draw('plan', [{ action: 'message', args: { content: 'And?' } }]));
  expect(tab()).toBe('Changes3');
  rerender(draw('plan', [{ observation: 'run', extras: { command: 'make', metadata: { exit_code: 0 } } }]));
  expect(tab()).toBe('Changes');
});

it('CL1192: who watches is shown the edits of the log, as in the panel', () => {
  const { draw, tab } = workbench({ isWatched: true });
  render(draw('plan'));
  expect(tab()).toBe('Changes1');
});
