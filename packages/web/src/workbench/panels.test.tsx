// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { type Event, fromJson } from '@tendon/protocol';
import { INITIAL_STATE } from '@tendon/protocol/reduce';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { afterEach, expect, it, vi } from 'vitest';
import { ConversationContext, type OpenConversation } from '../conversation/open-conversation.ts';
import { BrowserPanel } from './browser-panel.tsx';
import { NotebookPanel } from './notebook-panel.tsx';
import { setTaken, takenTerminal } from './terminal/taken-terminal.ts';
import { TerminalHold } from './terminal/terminal-hold.tsx';
import { commandsOf } from './terminal/transcript.tsx';

afterEach(cleanup);

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

function event(id: number, rest: object): Event {
  return fromJson({ id, timestamp: '2026-11-23T10:00:00.000Z', source: 'agent', ...rest });
}

function show(panel: React.ReactNode, events: readonly Event[], rest: object = {}, load = vi.fn<(range: object) => Promise<void>>()): void {
  const snapshot = { events, outputs: new Map<number, string>(), gaps: [], state: INITIAL_STATE, ...rest };
  const connection = { load, subscribe: () => () => undefined, getSnapshot: () => snapshot };
  const open = { snapshot, connection } as unknown as OpenConversation;
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ConversationContext value={open}>{panel}</ConversationContext>
    </QueryClientProvider>,
  );
}

it('CL973: the Notebook tab has the cells that the agent ran, with what they printed and plotted', () => {
  const seen = { code: '', image_urls: [PIXEL, 'https://example.com/track.png'] };
  const events = [
    event(1, { action: 'run_ipython', args: { code: 'print(1)' } }),
    event(2, { observation: 'run_ipython', cause: 1, content: '1\n', extras: seen, success: true }),
    event(3, { action: 'run_ipython', args: { code: '1 / 0' } }),
    event(4, { observation: 'run_ipython', cause: 3, content: 'ZeroDivisionError', extras: { code: '' }, success: false }),
    event(5, { action: 'run_ipython', args: { code: 'wait()' } }),
  ];
  show(<NotebookPanel eventId={undefined} />, events, { outputs: new Map([[5, 'step 7 of 9']]) });
  const [first, second, third] = within(screen.getByRole('list', { name: 'Cells' })).getAllByRole('listitem');
  expect(first!.getAttribute('aria-label')).toBe('Cell 1, ran');
  expect(within(first!).getAllByRole('img')).toHaveLength(1);
  expect(second!.getAttribute('aria-label')).toBe('Cell 2, failed');
  within(second!).getByText('ZeroDivisionError');
  expect(third!.getAttribute('aria-label')).toBe('Cell 3, running');
  within(third!).getByText('step 7 of 9');
});

it('CL973 CL941: what waits for a decision is in no panel of what ran, nor is what was rejected', () => {
  const code = (id: number, state: string) => event(id, { action: 'run_ipython', args: { code: `f(${id})`, confirmation_state: state } });
  const run = (id: number, state: string) => event(id, { action: 'run', args: { command: `echo ${id}`, confirmation_state: state } });
  const asked = ['awaiting_confirmation', 'rejected', 'awaiting_confirmation', 'confirmed'];
  show(
    <NotebookPanel eventId={undefined} />,
    asked.map((state, id) => code(id, state)),
  );
  expect(screen.getAllByRole('listitem').map((cell) => cell.getAttribute('aria-label'))).toEqual(['Cell 1, running']);
  expect(commandsOf(asked.map((state, id) => run(id, state))).map(({ command }) => command)).toEqual(['echo 3']);
});

it('CL973: the Browser tab shows the newest page large, its marks, and every page before it', async () => {
  const page = (id: number, title: string, rest: object = {}) =>
    event(id, {
      observation: 'browse',
      cause: id - 1,
      content: `Text of ${title}`,
      extras: { url: `http://localhost:5173/${title}`, title, screenshot: PIXEL, ...rest },
    });
  const marked = `${PIXEL}marks`;
  show(<BrowserPanel eventId={undefined} />, [
    page(2, 'first'),
    page(4, 'second', { set_of_marks: marked, last_browser_action_error: 'Nothing has the id 14' }),
  ]);
  const shown = () => screen.getByRole<HTMLImageElement>('img', { name: /^Screenshot of/ });
  expect(shown().alt).toBe('Screenshot of second');
  screen.getByText('http://localhost:5173/second');
  screen.getByText('Nothing has the id 14');
  await userEvent.click(screen.getByRole('button', { name: 'Marks' }));
  expect(shown().getAttribute('src')).toBe(marked);
  await userEvent.click(within(screen.getByRole('navigation', { name: 'Pages' })).getByRole('button', { name: /^first/ }));
  expect(shown().alt).toBe('Screenshot of first');
  screen.getByText('Text of first');
});

it('CL973: before there is anything, the panels say what will be there', () => {
  show(<NotebookPanel eventId={undefined} />, []);
  expect(screen.getByText('No cells yet')).toBeDefined();
  cleanup();
  show(<BrowserPanel eventId={undefined} />, []);
  expect(screen.getByText('No page opened yet')).toBeDefined();
});

it('CL977: a panel says that earlier events are not loaded, counts nothing then, and loads them', async () => {
  const load = vi.fn<(range: object) => Promise<void>>().mockResolvedValue();
  const cell = event(900, { action: 'run_ipython', args: { code: '1' } });
  show(<NotebookPanel eventId={undefined} />, [cell], { gaps: [{ from: 0, to: 900 }] }, load);
  screen.getByText('900 earlier events not loaded');
  expect(screen.getByRole('listitem').getAttribute('aria-label')).toMatch(/^Cell \d+:\d+, running$/);
  await userEvent.click(screen.getByRole('button', { name: 'Load earlier events' }));
  expect(load).toHaveBeenCalledWith({ from: 400, to: 900 });
});

it('CL1240: beside the agent’s terminal it says who has it, and one button changes that', async () => {
  const held = event(7, { action: 'run', source: 'user', args: { command: '#', take_over: true } });
  const hold = (pending: readonly Event[], rest: Partial<OpenConversation> = {}) => {
    cleanup();
    const snapshot = { state: { ...INITIAL_STATE, pending } };
    const connection = { subscribe: () => () => undefined, getSnapshot: () => snapshot };
    const open = { id: 'c', snapshot, connection, ...rest } as unknown as OpenConversation;
    render(
      <ConversationContext value={open}>
        <TerminalHold />
      </ConversationContext>,
    );
  };
  hold([held], { isWatched: true });
  expect(screen.queryByRole('button')).toBeNull();
  hold([held]);
  screen.getByText('You have the terminal, in another page.');
  screen.getByRole('button', { name: 'Take over here' });
  hold([]);
  await userEvent.click(screen.getByRole('button', { name: 'Take over' }));
  expect(takenTerminal('c')).toEqual({ id: 'c' });
  const giveBack = vi.fn<() => void>();
  setTaken({ id: 'c', session: { giveBack, close: () => undefined } });
  hold([held]);
  screen.getByText('You are typing. The agent waits.');
  await userEvent.click(screen.getByRole('button', { name: 'Give back' }));
  expect(giveBack).toHaveBeenCalledOnce();
  setTaken(undefined);
});
