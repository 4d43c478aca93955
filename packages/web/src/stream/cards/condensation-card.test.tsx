// @vitest-environment happy-dom
import { type Event, fromJson } from '@tendon/protocol';
import { INITIAL_STATE } from '@tendon/protocol/reduce';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { LoopChoices } from '../../composer/loop-choices.tsx';
import { ConversationContext, type OpenConversation } from '../../conversation/open-conversation.ts';
import { Stream } from '../stream.tsx';

afterEach(cleanup);
// There is no layout: what scrolls has the height of a window.
Object.defineProperty(HTMLElement.prototype, 'clientHeight', { get: () => 900, configurable: true });

const event = (part: object): Event => fromJson({ timestamp: '2026-01-01T00:00:00Z', source: 'agent', ...part });
const condensation = (id: number, args: object): Event => event({ id, action: 'condensation', args });
const whole = (id: number, summary: string): Event =>
  condensation(id, { forgotten_events_start_id: 0, forgotten_events_end_id: id - 1, summary });

function show(events: readonly Event[], { isWatched = false, agentState = 'finished' } = {}) {
  const sent: unknown[] = [];
  const state = { ...INITIAL_STATE, agentState };
  const snapshot = {
    state,
    loaded: true,
    events,
    gaps: [],
    outbox: [],
    outputs: new Map(),
    notices: [],
    connection: { state: 'connected' },
  };
  const connection = {
    send: (action: unknown) => sent.push(action) > 0,
    subscribe: () => () => undefined,
    getSnapshot: () => snapshot,
  };
  const value = { id: 'c', snapshot, connection, show: () => undefined, isWatched };
  render(
    <ConversationContext value={value as unknown as OpenConversation}>
      <Stream />
      <LoopChoices />
    </ConversationContext>,
  );
  for (const row of screen.queryAllByRole('button', { name: /the history/ })) fireEvent.click(row);
  return sent;
}

const buttons = (): readonly string[] =>
  screen.queryAllByRole('button', { name: /^(?:Edit|Show the agent)/ }).map((each) => each.textContent);
const [EDIT, UNDO] = ['Edit the summary', 'Show the agent everything again'] as const;

it('CL915: of two summaries the newest can be changed and taken back', () => {
  const sent = show([whole(9, 'The first.'), whole(20, 'The second.')]);
  expect(screen.getByText('The first.')).toBeTruthy();
  expect(buttons()).toEqual([EDIT, UNDO]);
  fireEvent.click(screen.getByRole('button', { name: UNDO }));
  fireEvent.click(screen.getByRole('button', { name: EDIT }));
  const field = screen.getByRole('textbox', { name: 'The summary' });
  expect((field as HTMLTextAreaElement).value).toBe('The second.');
  fireEvent.input(field, { target: { value: ' ' } });
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  fireEvent.input(field, { target: { value: 'My words.' } });
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(sent).toEqual([
    { action: 'condensation', args: { undoes: 20 } },
    { action: 'condensation', args: { edits: 20, summary: 'My words.' } },
  ]);
});

it('CL915: an edited summary is shown as the agent is shown it', () => {
  show([whole(9, 'As the model wrote it.'), condensation(10, { edits: 9, summary: 'As the person wrote it.' })]);
  expect(screen.queryByText('As the model wrote it.')).toBeNull();
  expect(screen.getAllByText('As the person wrote it.')).toHaveLength(2);
});

it('CL915: cleared results can be taken back, and under them the summary can be changed', () => {
  show([whole(9, 'A summary.'), condensation(20, { cleared_until: 15 })]);
  expect(buttons()).toEqual([EDIT, UNDO]);
});

it('CL915: what was taken back offers nothing, and the one before it everything', () => {
  show([whole(9, 'The first.'), whole(20, 'The second.'), condensation(21, { undoes: 20 })]);
  expect(buttons()).toEqual([EDIT, UNDO]);
  expect(screen.getByRole('button', { name: UNDO }).closest('article')!.textContent).toContain('The first.');
});

it('CL915: who only watches is offered nothing', () => {
  show([whole(9, 'A summary.')], { isWatched: true });
  expect(screen.getByText('A summary.')).toBeTruthy();
  expect(buttons()).toEqual([]);
});

const halt = event({ id: 5, source: 'environment', observation: 'loop_detection', content: 'It went in circles.', extras: {} });

it('CL916: a halted agent has three ways on', () => {
  const sent = show([halt], { agentState: 'awaiting_user_input' });
  for (const words of ['Begin again from before it', 'Begin again from your message', 'Stop'])
    fireEvent.click(screen.getByRole('button', { name: words }));
  expect(sent).toEqual([1, 2, 3].map((option) => ({ action: 'loop_recovery', args: { option } })));
});

it('CL916: they go with the next message, and a hint has none', () => {
  const hint = event({ id: 5, source: 'environment', observation: 'loop_detection', content: 'Try another way.', extras: { hint: true } });
  const message = event({ id: 6, source: 'user', action: 'message', args: { content: 'Leave it.' } });
  show([halt, message], { agentState: 'awaiting_user_input' });
  show([hint], { agentState: 'awaiting_user_input' });
  expect(screen.queryByRole('group', { name: 'The agent went in circles' })).toBeNull();
});
