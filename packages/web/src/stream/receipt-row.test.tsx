// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { type Event, fromJson, type WorkspaceChanges } from '@tendon/protocol';
import { INITIAL_STATE } from '@tendon/protocol/reduce';
import { afterEach, expect, it } from 'vitest';
import { ConversationContext, type OpenConversation } from '../conversation/open-conversation.ts';
import { ReceiptRow } from './receipt-row.tsx';

afterEach(cleanup);

const CHANGES: WorkspaceChanges = {
  state: 'compared',
  base: { kind: 'checkpoint', checkpoint: 4, made_at: '2026-01-01T10:38:00Z', note: null },
  count: 5,
  files: ['read-csv.ts', 'sniff.ts', 'amount.ts', 'b.test.ts', 'logo.png'].map((name, index) => {
    return { path: `src/${name}`, status: 'M', added: index < 4 ? 1000 : null, removed: index < 4 ? 3 : null };
  }),
};

interface Turn {
  readonly edits?: boolean;
  readonly changes?: WorkspaceChanges;
  readonly completed?: string;
  readonly command?: string;
  /** The exit code of the check that a person ran again. */
  readonly again?: number;
  /** Files that differ from what they were after the check. */
  readonly sinceCheck?: number;
  /** The proxy has a record. */
  readonly hasRecord?: boolean;
}

/** A turn in which a check ran, and how the agent ended it. */
function show(
  exit_code: number,
  {
    edits = false,
    changes = CHANGES,
    completed = 'true',
    command = 'cd app && npm test',
    again,
    sinceCheck = 0,
    hasRecord = false,
  }: Turn = {},
) {
  const common = { timestamp: '2026-01-01T10:40:00Z', source: 'agent', content: '' };
  const rows: readonly object[] = [
    { source: 'user', action: 'message', args: { content: 'go' } },
    { action: 'run', args: { command } },
    { observation: 'run', cause: 1, extras: { command: 'npm test', metadata: { exit_code } } },
    ...(edits ? [{ observation: 'edit', extras: { path: '/workspace/src/a.ts' } }] : []),
    { action: 'finish', args: { final_thought: 'All tests pass.', task_completed: completed } },
    { observation: 'agent_state_changed', extras: { agent_state: 'finished' } },
  ];
  const end = rows.length - 1;
  const later = [
    { source: 'user', action: 'run', args: { command } },
    { source: 'user', observation: 'run', cause: end + 1, extras: { command, metadata: { exit_code: again } } },
  ];
  const events: readonly Event[] = [...rows, ...(again === undefined ? [] : later)].map((row, id) => fromJson({ ...common, id, ...row }));
  const span = { start: 0, end, next: undefined };
  const queries = new QueryClient();
  queries.setQueryData(['changes', 'c', 'turn', span.start, span.end, span.next], changes);
  const checked = again === undefined ? 2 : end + 2;
  queries.setQueryData(['changes', 'c', 'since-check', checked, end, undefined], { ...changes, count: sinceCheck, files: [] });
  const reached = [
    { host: 'registry.example', port: 443, count: 3, times: ['2026-01-01T10:40:00Z'], bytes_in: 2_100_000, bytes_out: 4_000 },
    { host: 'before.example', port: 443, count: 1, times: ['2026-01-01T10:00:00Z'], bytes_in: 1, bytes_out: 1 },
  ];
  queries.setQueryData(['network', 'c', 'turn', end], { reached: hasRecord ? reached : [] });
  const sent: string[] = [];
  const shown: string[] = [];
  const open = {
    id: 'c',
    snapshot: { state: INITIAL_STATE, events, notices: [] },
    connection: {
      say: (text: string) => sent.push(text) > 0,
      send: ({ args }: { args: { command: string } }) => sent.push(args.command) > 0,
    },
    show: ({ tab }: { tab: string }) => shown.push(tab),
  };
  render(
    <QueryClientProvider client={queries}>
      <ConversationContext value={open as unknown as OpenConversation}>
        <ReceiptRow span={span} position={1} size={1} />
      </ConversationContext>
    </QueryClientProvider>,
  );
  return { sent, shown, text: screen.getByRole('article').textContent };
}

it('CL954: a turn ends with its files and lines, and the check that passed after the last edit', async () => {
  const { text, shown } = show(0);
  expect(text).toContain('5 files+4,000−12read-csv.ts, sniff.ts, amount.ts and 2 more');
  expect(text).toContain('cd app && npm testpassed');
  expect(screen.getByRole('article', { name: 'Receipt: 5 files, cd app && npm test passed' }).querySelector('[data-tone]')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'See the changes' }));
  expect(shown).toEqual(['changes']);
});

it('CL954: an agent that says done while the last check failed is contradicted, and that can be sent back', async () => {
  const { text, sent } = show(2);
  expect(text).toContain('The agent says done; the last check failed after its last edit.');
  await userEvent.click(screen.getByRole('button', { name: 'Send that back' }));
  expect(sent).toEqual(['`cd app && npm test` fails with exit code 2. Fix that first.']);
});

it('CL954: a check before the last edit proves nothing of it, and an agent that is not done is not contradicted', () => {
  expect(show(0, { edits: true }).text).toContain('passed, before the last edit');
  cleanup();
  expect(show(1, { completed: 'false' }).text).not.toContain('says done');
});

it('CL954: a turn that changed nothing and checked nothing says so', () => {
  expect(show(0, { command: 'ls', changes: { ...CHANGES, count: 0, files: [] } }).text).toBe('No file changed in this turn');
});

it('CL954: where the files cannot be compared nothing is claimed of them', () => {
  const { text } = show(0, { changes: { ...CHANGES, state: 'suspended', count: 0, files: [] } });
  expect(text).toBe('cd app && npm testpassed');
});

it('SV1001: of a check whose exit code is not in the log nothing is claimed', () => {
  expect(show(0, { command: 'npm test | tail -5' }).text).toContain('ran; whether it passed is not in the exit code of this line');
  expect(screen.getByRole('article').querySelector('.tone-ok svg')).toBeNull();
});

it('CL1170: a failed check is run again by a person, and the receipt has its new result', async () => {
  const { sent } = show(1);
  await userEvent.click(screen.getByRole('button', { name: 'Run again' }));
  expect(sent).toEqual(['cd app && npm test']);
  cleanup();
  const { text } = show(1, { again: 0 });
  expect(text).toContain('cd app && npm testpassed');
  expect(text).not.toContain('says done');
  expect(screen.queryByRole('button', { name: 'Run again' })).toBeNull();
});

it('CL1171: a check is outdated by files that a command changed after it, which no edit of the log shows', () => {
  expect(show(0, { sinceCheck: 2 }).text).toContain('passed, before the last edit');
});

it('CL1172: the hosts that the sandbox reached in the turn are listed, by the proxy’s record, and no others', () => {
  const { text } = show(0, { hasRecord: true });
  expect(text).toContain('Reached 1 hostregistry.example2.1 MB in, 4 kB out');
  expect(text).not.toContain('before.example');
});
