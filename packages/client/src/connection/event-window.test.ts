import { fromJson, type Event } from '@tendon/protocol';
import { INITIAL_STATE, reduce } from '@tendon/protocol/reduce';
import { array, assert, boolean, constantFrom, integer, property, record, shuffledSubarray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventWindow } from './event-window.ts';

const draft = record({ isState: boolean(), state: constantFrom('running', 'paused', 'finished'), gap: integer({ min: 1, max: 3 }) });
const log = array(draft, { minLength: 1, maxLength: 40 }).map((drafts) => {
  let id = -1;
  return drafts.map(({ isState, state, gap }): Event => {
    id += gap;
    const meta = { id, timestamp: '', source: 'agent' };
    if (isState) return fromJson({ ...meta, observation: 'agent_state_changed', content: '', extras: { agent_state: state } });
    return fromJson({ ...meta, action: 'run', args: { command: 'ls' } });
  });
});

describe('the window over a log', () => {
  it('CL1: whatever the order of arrival, each event is held once, in order, and the fold is that of the log', () => {
    const arrivals = log.chain((events) => shuffledSubarray([...events, ...events], { minLength: 1 }).map((order) => ({ events, order })));
    assert(
      property(arrivals, ({ order }) => {
        const window = new EventWindow();
        for (const event of order) window.add(event);
        const held = window.snapshot();
        const wanted = [...new Map(order.map((event) => [event.id, event])).values()].toSorted((a, b) => a.id - b.id);
        expect(held.map((event) => event.id)).toEqual(wanted.map((event) => event.id));
        expect(window.state.agentState).toBe(wanted.reduce(reduce, INITIAL_STATE).agentState);
        expect(window.state.pending.map((action) => action.id)).toEqual(
          wanted.reduce(reduce, INITIAL_STATE).pending.map((action) => action.id),
        );
      }),
    );
  });

  it('CL2: the cursor stays until the last state change of the replay is there', () => {
    const window = new EventWindow();
    const at = (id: number, kind: object) => fromJson({ id, timestamp: '', source: 'agent', ...kind });
    window.beginReplay();
    window.add(at(7, { action: 'think', args: { thought: '' } }));
    expect(window.cursor).toBe(-1);
    window.add(at(5, { observation: 'agent_state_changed', content: '', extras: { agent_state: 'running' } }));
    expect(window.cursor).toBe(7);
    window.add(at(8, { action: 'think', args: { thought: '' } }));
    expect(window.cursor).toBe(8);
    window.beginReplay();
    window.add(at(9, { action: 'think', args: { thought: '' } }));
    expect(window.cursor).toBe(8);
  });

  it('CL1001: what is left out is a gap until it is filled, and the state is that of the whole log all the same', () => {
    const given = log.chain((events) =>
      record({
        events: constantFrom(events),
        first: integer({ min: 0, max: 40 }),
        at: integer({ min: 0, max: 140 }),
        size: integer({ min: 1, max: 60 }),
      }),
    );
    assert(
      property(given, ({ events, first, at, size }) => {
        const next = events.at(-1)!.id + 1;
        const [from, base] = [Math.min(first, next), Math.floor((first + 2 * next) / 2)];
        const fold = (all: readonly Event[]) => all.reduce(reduce, INITIAL_STATE);
        const window = new EventWindow();
        // A replay that broke brought the beginning of what the next one leaves out.
        for (const event of events.slice(0, 3)) window.add(event);
        window.leaveOut({ from: 0, to: from }, { ...fold(events.filter(({ id }) => id < base)), nextId: base });
        for (const event of events.filter(({ id }) => id >= from)) window.add(event);
        const ids = () => window.snapshot().map(({ id }) => id);
        const isConsistent = () => {
          const wanted = events.map(({ id }) => id).filter((id) => !window.gaps.some((gap) => id >= gap.from && id < gap.to));
          expect(ids()).toEqual(wanted);
          expect(window.state).toMatchObject({ agentState: fold(events).agentState, pending: fold(events).pending });
        };
        isConsistent();
        const range = { from: at, to: at + size };
        for (const gap of window.gaps) {
          const part = { from: Math.max(gap.from, range.from), to: Math.min(gap.to, range.to) };
          if (part.from < part.to)
            window.load(
              part,
              events.filter(({ id }) => id >= part.from && id < part.to),
            );
        }
        isConsistent();
        window.forget(at);
        isConsistent();
        for (const gap of window.gaps) window.load(gap, events);
        isConsistent();
        expect(window.gaps).toEqual([]);
      }),
    );
  });

  it('CL8: the snapshot is the same until an event comes', () => {
    const window = new EventWindow();
    expect(window.snapshot()).toBe(window.snapshot());
  });
});
