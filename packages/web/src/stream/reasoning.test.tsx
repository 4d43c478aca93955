// @vitest-environment happy-dom
import { type Event, fromJson } from '@tendon/protocol';
import { INITIAL_STATE, reduce } from '@tendon/protocol/reduce';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { ConversationContext, type OpenConversation } from '../conversation/open-conversation.ts';
import { Stream } from './stream.tsx';

afterEach(cleanup);
// There is no layout: what scrolls has the height of a window.
Object.defineProperty(HTMLElement.prototype, 'clientHeight', { get: () => 900, configurable: true });

const event = (part: object): Event => fromJson({ timestamp: '2026-01-01T00:00:00Z', source: 'agent', ...part });

function shown(given: { readonly events?: readonly Event[]; readonly answer?: object }) {
  const { events = [], answer } = given;
  const snapshot = {
    state: events.reduce(reduce, INITIAL_STATE),
    loaded: true,
    events,
    outbox: [],
    gaps: [],
    outputs: new Map(),
    notices: [],
    answer,
    connection: { state: 'connected' },
  };
  const value = { id: 'c', snapshot, connection: { send: () => true }, show: () => undefined };
  return (
    <ConversationContext value={value as unknown as OpenConversation}>
      <Stream />
    </ConversationContext>
  );
}

const run = event({ id: 4, action: 'run', args: { command: 'ls' }, reasoning_content: 'First I look. Then I **decide**.' });

it('CL720: what the model thought stands before its answer, folded, and opens', () => {
  render(shown({ events: [run] }));
  const rows = screen.getAllByRole('article').map((row) => row.getAttribute('aria-label'));
  expect(rows).toEqual(['Thought First I look.', expect.stringContaining('ls')]);
  const row = screen.getByRole('button', { name: /Thought First I look/ });
  expect(row.getAttribute('aria-expanded')).toBe('false');
  expect(screen.queryByText('decide')).toBeNull();
  fireEvent.click(row);
  expect(screen.getByText('decide')).toBeTruthy();
});

it('CL720: it stands before an answer in words and before a call that could not be understood, too', () => {
  const words = event({ id: 5, action: 'message', args: { content: 'Hello.' }, reasoning_content: 'They greet me.' });
  const refused = event({ id: 6, observation: 'error', content: 'There is no tool "x".', extras: {}, reasoning_content: 'I try x.' });
  render(shown({ events: [words, refused] }));
  const rows = screen.getAllByRole('article').map((row) => row.getAttribute('aria-label'));
  expect(rows.slice(0, 3)).toEqual(['Thought They greet me.', 'Agent: Hello.', 'Thought I try x.']);
});

it('CL721: while the model thinks its latest sentence is shown; what was opened stays open when the answer is there', () => {
  const { rerender } = render(shown({ answer: { turn: 4, text: '', reasoning: 'First I look. Then I **dec', tool: '' } }));
  const row = screen.getByRole('button', { name: 'Thinking Then I **dec' });
  expect(row.getAttribute('aria-expanded')).toBe('false');
  fireEvent.click(row);
  expect(screen.getByText(/First I look\./)).toBeTruthy();
  rerender(shown({ events: [run] }));
  expect(screen.getByRole('button', { name: /Thought First I look/ }).getAttribute('aria-expanded')).toBe('true');
});

it('CL948: a message that comes while a step runs says when it is read, and the step stays open', () => {
  const state = (id: number) => event({ id, observation: 'agent_state_changed', content: '', extras: { agent_state: 'running' } });
  const message = event({ id: 6, source: 'user', action: 'message', args: { content: 'and quickly' } });
  const { rerender } = render(shown({ events: [state(3), run, message] }));
  screen.getByText('The agent reads this after the step that runs');
  screen.getByText(/^running /);
  const ran = event({ id: 7, observation: 'run', cause: 4, content: '', extras: { command: 'ls', metadata: { exit_code: 0 } } });
  rerender(shown({ events: [state(3), run, message, ran] }));
  expect(screen.queryByText('The agent reads this after the step that runs')).toBeNull();
});
