import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGENT_STATES } from './agent-state.ts';
import { answeredBy } from './answered-by.ts';
import { fromJson } from './codec.ts';
import { isAction, isObservation, type Action, type Event } from './event.ts';
import { INITIAL_STATE, reduce, type ConversationState } from './reduce.ts';

const source = fc.constantFrom('agent', 'user', 'environment');
const cause = fc.option(fc.nat(30), { nil: undefined });
const metrics = fc.option(fc.record({ accumulated_cost: fc.nat(100) }), { nil: undefined });

/** Everything that folding looks at, and things it must not look at. */
const body = fc.oneof(
  fc.record({ action: fc.constant('run'), args: fc.constant({ command: 'ls' }), llm_metrics: metrics }),
  fc.record({ action: fc.constant('think'), args: fc.constant({ thought: 't' }), llm_metrics: metrics }),
  fc.record({ action: fc.constant('recall'), args: fc.constant({ query: 'q' }) }),
  fc.record({ action: fc.constant('message'), args: fc.constant({ content: 'm' }), llm_metrics: metrics }),
  fc.record({ action: fc.constant('start'), args: fc.constant({ task: 't' }) }),
  fc.record({ action: fc.constant('system'), args: fc.constant({ content: 's' }) }),
  fc.record({ action: fc.constant('finish'), args: fc.constant({}) }),
  fc.record({ action: fc.constant('change_agent_state'), args: fc.constant({ agent_state: 'paused' }) }),
  fc.record({ action: fc.constant('from_the_future'), args: fc.constant({ agent_state: 'paused' }), cause }),
  fc.record({ observation: fc.constant('from_the_future'), extras: fc.constant({ agent_state: 'paused' }), cause }),
  fc.record({ observation: fc.constant('run'), content: fc.constant(''), extras: fc.constant({ command: 'ls' }), cause }),
  fc.record({ observation: fc.constant('error'), content: fc.constant('e'), extras: fc.constant({}), cause }),
  fc.record({
    observation: fc.constant('agent_state_changed'),
    content: fc.constant(''),
    extras: fc.record({
      agent_state: fc.constantFrom(...AGENT_STATES),
      reason: fc.string(),
      resumes_at: fc.option(fc.constant('2026-11-21T09:00:00Z'), { nil: undefined }),
    }),
    cause,
  }),
);
const log = fc
  .array(fc.tuple(body, source), { maxLength: 30 })
  .map((items) =>
    items.map(([json, from], id) => deepFrozen(fromJson({ id, timestamp: '2026-11-21T09:00:00.000Z', source: from, ...json }))),
  );

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(Object.freeze(value))) deepFrozen(item);
  return value;
}

/** Freezes every state on the way: folding that writes into its argument throws. */
function fold(events: readonly Event[], from: ConversationState = INITIAL_STATE): ConversationState {
  return events.reduce((state, event) => deepFrozen(reduce(state, event)), from);
}

describe('reduce', () => {
  it('RE1: folding in pieces is folding the whole, also when the state was written down in between', () => {
    const property = fc.property(log, fc.nat(30), (events, cut) => {
      const before = fold(events.slice(0, cut));
      const restored = { ...INITIAL_STATE, ...(JSON.parse(JSON.stringify(before)) as ConversationState) };
      expect(fold(events.slice(cut), before)).toEqual(fold(events));
      expect(fold(events.slice(cut), restored)).toEqual(fold(events));
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('RE1: the next id follows the last event, and every event counts', () => {
    const property = fc.property(log, (events) => {
      expect(fold(events).nextId).toBe(events.length);
    });
    fc.assert(property);
  });

  it('RE2: the agent state is that of the last announcement, with its reason; nothing else moves it', () => {
    const property = fc.property(log, (events) => {
      const last = events.findLast((event) => isObservation(event) && event.observation === 'agent_state_changed');
      const extras = last && (last as unknown as { extras: { agent_state: string; reason: string; resumes_at?: string } }).extras;
      const { agentState, reason, resumesAt } = fold(events);
      expect({ agentState, reason, resumesAt }).toEqual({
        agentState: extras?.agent_state ?? 'loading',
        reason: extras?.reason ?? '',
        resumesAt: extras?.resumes_at,
      });
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('RE3: pending is every action that somebody must answer and no later observation names, oldest first', () => {
    const property = fc.property(log, (events) => {
      const open = events.filter(
        (event) =>
          isAction(event) &&
          answeredBy(event.action) !== 'none' &&
          !events.some((later) => later.id > event.id && isObservation(later) && later.cause === event.id),
      );
      expect(fold(events).pending).toEqual(open);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('RE4: the last message from the user and the last action of the agent are remembered by id', () => {
    const property = fc.property(log, (events) => {
      const { lastUserMessageId, lastAgentEventId } = fold(events);
      const actions = events.filter((event) => isAction(event)) as Action[];
      const mine = actions.filter((event) => event.source === 'user' && ['message', 'start'].includes(event.action));
      const agents = actions.filter((event) => event.source === 'agent' && event.action !== 'system');
      expect(lastUserMessageId).toBe(mine.at(-1)?.id ?? -1);
      expect(lastAgentEventId).toBe(agents.at(-1)?.id ?? -1);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('RE5: the metrics are those of the last event that carries some', () => {
    const property = fc.property(log, (events) => {
      expect(fold(events).metrics).toEqual(events.findLast((event) => isAction(event) && event.llm_metrics)?.llm_metrics);
    });
    fc.assert(property);
  });
});
