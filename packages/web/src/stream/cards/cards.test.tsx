// @vitest-environment happy-dom
import { type Event, fromJson, isAction, isObservation } from '@tendon/protocol';
import { INITIAL_STATE } from '@tendon/protocol/reduce';
import { cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { ConversationContext, type OpenConversation } from '../../conversation/open-conversation.ts';
import { EVERY_KIND } from '../every-kind.test-support.ts';
import type { StepItem } from '../stream-item.ts';
import { cardOf } from './card-of.tsx';

afterEach(cleanup);

const open = {
  id: 'c',
  snapshot: { state: INITIAL_STATE, events: [], notices: [] },
  connection: { send: () => true },
  show: () => undefined,
};

function step(event: Event): StepItem {
  const common = { type: 'step', key: 'x', id: 0, at: '2026-01-01T00:00:00Z' } as const;
  if (isAction(event)) return { ...common, action: event };
  return isObservation(event) ? { ...common, observation: event } : { ...common, unknown: event };
}

const named = EVERY_KIND.map((event, index) => {
  const kind = isAction(event) ? event.action : isObservation(event) ? event.observation : 'unknown';
  return [`${kind} ${index}`, event] as const;
});

describe('cards', () => {
  it.each(named)('CL20: %s has a row with a name, and a body that can be drawn', (_name, event) => {
    const card = cardOf(step(event));
    expect(card.name.trim()).not.toBe('');
    expect(`${card.verb ?? ''}${card.object ?? ''}${card.detail ?? ''}`.trim()).not.toBe('');
    const { container } = render(<ConversationContext value={open as unknown as OpenConversation}>{card.body?.()}</ConversationContext>);
    expect(container.innerHTML).not.toContain('[object Object]');
  });

  it('CL832: the row of a restore says what was restored, and leads to what the agent no longer knows', () => {
    const meta = { timestamp: '', source: 'user' };
    const restored = (what: string, changed: number) => {
      const action = fromJson({ ...meta, id: 8, action: 'restore_checkpoint', args: { checkpoint: 1, what, from: 5 } }) as never;
      const extras = { checkpoint: 1, what, from: 5, changed, left: [] };
      const observation = fromJson({ ...meta, id: 9, cause: 8, observation: 'restore_checkpoint', content: 'It was.', extras }) as never;
      return cardOf({ type: 'step', key: 'x', id: 8, at: '', action, observation });
    };
    expect(restored('both', 2)).toMatchObject({ verb: 'Restored files and conversation', facts: [{ text: '2 files' }] });
    expect(restored('conversation', 0)).toMatchObject({ verb: 'Restored the conversation', facts: [] });
    const { container } = render(<>{restored('both', 2).body?.()}</>);
    expect(container.querySelector('a')?.getAttribute('href')).toBe('#event-5');
  });

  it('CL20: a kind that this version does not know says so and shows its JSON', () => {
    const card = cardOf(
      step({ id: 1, timestamp: '', source: 'agent', unknown: true, raw: { action: 'snapshot', args: { files: 812 } } } as Event),
    );
    expect(card).toMatchObject({ object: 'snapshot', detail: 'a kind this version does not know' });
    expect(card.copy).toContain('812');
  });

  it.each([
    [
      'The agent took 3 steps since your last message, which is the limit. Resume to let it go on.',
      'Paused after 3 steps, your limit',
      'Change the limit',
    ],
    [
      'The conversation has cost $0.07; its budget is $0.05. Raise the budget to go on.',
      'Paused: the budget of $0.05 is used up',
      'Raise the budget',
    ],
  ])('CL1338: a limit that the agent reached is no failure, and its row has the ways on: %s', (reason, words, remedy) => {
    const event = {
      id: 1,
      timestamp: '2026-01-01T00:00:00Z',
      source: 'environment',
      observation: 'agent_state_changed',
      content: '',
      extras: { agent_state: 'error', reason },
    };
    const card = cardOf(step(fromJson(event)));
    expect(card).toMatchObject({ verb: words, tone: 'wait', open: 'always' });
    const resting = { ...open, snapshot: { ...open.snapshot, state: { ...INITIAL_STATE, agentState: 'error' } } };
    const { container } = render(<ConversationContext value={resting as unknown as OpenConversation}>{card.body?.()}</ConversationContext>);
    expect([...container.querySelectorAll('button, a')].map(({ textContent }) => textContent)).toEqual(['Continue', remedy]);
  });

  it('EN951: a delegation that is handed over on a branch shows it, with the changed files', () => {
    const common = { timestamp: '2026-01-01T00:00:00Z', source: 'agent' };
    const action = fromJson({ ...common, id: 1, action: 'delegate', args: { agent: 'Coder', inputs: { task: 'x' }, isolated: true } });
    const outputs = { branch: 'tendon/1234abcd', changed: ' a | 1 +' };
    const observation = fromJson({ ...common, id: 2, observation: 'delegate', cause: 1, content: 'done', extras: { outputs } });
    if (!isAction(action) || !isObservation(observation)) throw new Error('these are an action and its observation');
    expect(cardOf(step(action)).facts).toEqual([{ text: 'in a copy' }]);
    const card = cardOf({ ...step(action), observation });
    expect(card.facts).toEqual([{ text: 'tendon/1234abcd' }]);
    expect(render(card.body!()).container.innerHTML).toContain(' a | 1 +');
  });

  it('CL941: a pause of the provider is a row of its own words, which can be read whole, and offers another model while it lasts', () => {
    const words = `Cannot connect to API: connect ECONNREFUSED ${'127.0.0.1:4999 '.repeat(20)}`.trim();
    const reason = `The model's provider did not answer: ${words}`;
    const extras = { agent_state: 'rate_limited', reason };
    const event = fromJson({
      ...{ id: 1, timestamp: '2026-01-01T00:00:00Z', source: 'environment', content: '' },
      observation: 'agent_state_changed',
      extras,
    });
    const card = cardOf(step(event));
    expect(card).toMatchObject({ verb: 'The model did not answer', detail: words });
    const bodyIn = (agentState: string) => {
      const state = { ...INITIAL_STATE, agentState };
      const value = { ...open, snapshot: { ...open.snapshot, state } } as unknown as OpenConversation;
      return render(<ConversationContext value={value}>{card.body?.()}</ConversationContext>).container;
    };
    expect(bodyIn('running').textContent).toBe(words);
    // The next try uses another model that is chosen meanwhile.
    expect(card.open).toBe('newest');
    expect(bodyIn('rate_limited').querySelector('a')!.getAttribute('href')).toBe('/settings');
    expect(bodyIn('rate_limited').textContent).toContain('Use another model');
  });

  it('CL761: a search is shown as one, with what was looked for', () => {
    const args = { path: '.', search: { kind: 'grep', pattern: 'to-?do' } };
    const event = fromJson({ id: 1, timestamp: '2026-01-01T00:00:00Z', source: 'agent', action: 'read', args });
    expect(cardOf(step(event))).toMatchObject({ verb: 'Searched for', object: 'to-?do' });
  });

  it('CL917: a search of earlier conversations is shown as one, with what was looked for', () => {
    const extras = { recall_type: 'default', query: 'marmalade otter' };
    const event = fromJson({
      id: 1,
      timestamp: '2026-01-01T00:00:00Z',
      source: 'environment',
      observation: 'recall',
      content: 'x',
      extras,
    });
    expect(cardOf(step(event))).toMatchObject({ verb: 'Searched earlier conversations', detail: 'marmalade otter' });
  });

  it('EN920: a note for later conversations is shown as one, with what was noted', () => {
    const extras = { recall_type: 'default', query: 'Prefers pnpm.', note: { about: 'user', file: 'notes/user.md' } };
    const meta = { id: 1, timestamp: '2026-01-01T00:00:00Z', source: 'environment' };
    const event = fromJson({ ...meta, observation: 'recall', content: 'Noted.', extras });
    expect(cardOf(step(event))).toMatchObject({ verb: 'Noted for later conversations', detail: 'Prefers pnpm.' });
  });

  it('CL26: an action that a person rejected says so', () => {
    const args = { command: 'rm -rf build', confirmation_state: 'rejected' };
    const event = fromJson({ id: 1, timestamp: '2026-01-01T00:00:00Z', source: 'agent', action: 'run', args });
    expect(cardOf(step(event)).name).toBe('Ran rm -rf build, rejected');
  });
});
