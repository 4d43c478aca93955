// @vitest-environment happy-dom
import { type Event, fromJson } from '@tendon/protocol';
import { INITIAL_STATE, reduce } from '@tendon/protocol/reduce';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { ConversationContext, type OpenConversation } from '../conversation/open-conversation.ts';
import { Stream } from './stream.tsx';

afterEach(cleanup);
// There is no layout: what scrolls has the height of a window.
Object.defineProperty(HTMLElement.prototype, 'clientHeight', { get: () => 900, configurable: true });

const [ada, bob] = [
  { id: 'u1', name: 'Ada' },
  { id: 'u2', name: 'Bob' },
];
const event = (part: object): Event => fromJson({ timestamp: '2026-01-01T00:00:00Z', source: 'agent', ...part });

function show(events: readonly Event[]): void {
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

it('CL1301: a message names its author, and a step who approved or rejected it', () => {
  show([
    event({ id: 0, source: 'user', action: 'message', author: ada, args: { content: 'Find it.' } }),
    event({ id: 1, action: 'run', author: bob, args: { command: 'ls', confirmation_state: 'confirmed' } }),
    event({ id: 2, observation: 'run', content: '', cause: 1, extras: { command: 'ls', metadata: { exit_code: 0 } } }),
    event({ id: 3, action: 'run', author: ada, args: { command: 'rm x', confirmation_state: 'rejected' } }),
    event({ id: 4, observation: 'user_rejected', content: 'no', cause: 3, extras: {} }),
  ]);
  expect(screen.getByRole('article', { name: /^Message of Ada, .*Find it/ })).toBeTruthy();
  expect([screen.getByText('approved by Bob'), screen.getByText('rejected by Ada')]).toHaveLength(2);
});

it('CL1301: without users nobody is named', () => {
  show([event({ id: 0, source: 'user', action: 'message', args: { content: 'Find it.' } })]);
  expect(screen.getByRole('article', { name: /^Your message, / })).toBeTruthy();
});
