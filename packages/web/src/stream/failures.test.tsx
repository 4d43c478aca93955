// @vitest-environment happy-dom
import { type Event, fromJson } from '@tendon/protocol';
import { INITIAL_STATE, reduce } from '@tendon/protocol/reduce';
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { ConversationContext, type OpenConversation } from '../conversation/open-conversation.ts';
import { Stream } from './stream.tsx';

afterEach(cleanup);
// There is no layout: what scrolls has the height of a window.
Object.defineProperty(HTMLElement.prototype, 'clientHeight', { get: () => 900, configurable: true });

function show(...parts: readonly object[]): void {
  const events: readonly Event[] = parts.map((part, id) => fromJson({ id, timestamp: '2026-01-01T00:00:00Z', source: 'agent', ...part }));
  const state = events.reduce(reduce, INITIAL_STATE);
  const rest = { loaded: true, outbox: [], gaps: [], outputs: new Map(), notices: [], answer: undefined };
  const snapshot = { ...rest, state, events, connection: { state: 'connected' } };
  const value = { id: 'c', snapshot, connection: { send: () => true }, show: () => undefined };
  render(
    <ConversationContext value={value as unknown as OpenConversation}>
      <Stream />
    </ConversationContext>,
  );
}

const TASK = { source: 'user', action: 'message', args: { content: 'Fetch it.' } };
const state = (agent_state: string) => ({ observation: 'agent_state_changed', content: '', extras: { agent_state, reason: '' } });
const run = (command: string, thought = '') => ({ action: 'run', args: { command, thought } });
const ran = (cause: number, exit_code: number, content: string) => ({
  observation: 'run',
  cause,
  content,
  extras: { command: '', metadata: { exit_code } },
});
const REFUSED = 'curl: (7) Connection refused';

function row(name: string): { readonly name: string; readonly isOpen: string | null } {
  const article = screen.getByRole('article', { name: new RegExp(name) });
  const [line] = within(article).getAllByRole('button', { expanded: undefined });
  return { name: article.getAttribute('aria-label')!, isOpen: line!.getAttribute('aria-expanded') };
}

it('CL22, CL1344: of the failures of a turn the newest is open; the others keep their exit code and say what repeats', () => {
  show(
    ...[state('running'), TASK, run('curl a'), ran(2, 7, REFUSED), run('curl b'), ran(4, 7, REFUSED)],
    ...[run('make'), ran(6, 2, 'no rule'), run('ls'), ran(8, 0, 'a.txt')],
  );
  expect(row('curl a')).toEqual({ name: 'Ran curl a, exit 7', isOpen: 'false' });
  expect(row('curl b')).toEqual({ name: 'Ran curl b, exit 7, same as before', isOpen: 'false' });
  expect(row('make')).toEqual({ name: 'Ran make, exit 2', isOpen: 'true' });
  expect(screen.getAllByText('same as before')).toHaveLength(1);
});

it('CL22: an earlier failure that a person opens stays open', () => {
  show(state('running'), TASK, run('curl a'), ran(2, 7, REFUSED), run('curl b'), ran(4, 7, REFUSED));
  fireEvent.click(within(screen.getByRole('article', { name: /curl a/ })).getByRole('button', { name: /curl a/ }));
  expect(row('curl a').isOpen).toBe('true');
});

it('CL1345: steps of a turn that is over are one row that says how many failed and opens with the words before them', () => {
  const steps = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((name, index) => [
    run(`curl ${name}`, `Trying ${name}.`),
    ran(1 + index * 2, index < 4 ? 7 : 0, index < 4 ? REFUSED : 'ok'),
  ]);
  show(TASK, ...steps, { action: 'message', args: { content: 'It is there.' } }, state('awaiting_user_input'));
  const fold = screen.getByRole('article', { name: '3 steps, ran 3 commands, 3 failed' });
  expect(screen.queryByText('Trying b.')).toBeNull();
  expect(screen.getAllByText('It is there.')).toHaveLength(1);
  expect(row('curl d').isOpen).toBe('true');
  fireEvent.click(within(fold).getByRole('button'));
  expect(within(fold).getByText('Trying b.')).toBeTruthy();
  expect(within(fold).getAllByText('same as before')).toHaveLength(2);
});
