// @vitest-environment happy-dom
import { act, renderHook } from '@testing-library/react';
import { type AgentState, type Event, fromJson } from '@tendon/protocol';
import { INITIAL_STATE } from '@tendon/protocol/reduce';
import { expect, it, vi } from 'vitest';
import { useFollow } from './use-follow.ts';

function work(...actions: readonly (readonly [string, object])[]): readonly Event[] {
  const common = { timestamp: '2026-11-23T10:00:00.000Z', source: 'agent' };
  return actions.map(([action, args], id) => fromJson({ ...common, id, action, args }));
}

const steps = work(
  ['run', { command: 'ls' }],
  ['write', { path: '/workspace/a', content: 'a' }],
  ['run_ipython', { code: '1' }],
  ['think', { thought: 'so' }],
  ['browse', { url: 'http://localhost:5173' }],
  ['run', { command: 'ls' }],
);

it('CL974: the panel that the agent works in opens itself, in the end what changed, until the person chooses another', () => {
  const show = vi.fn<Parameters<typeof useFollow>[1]>();
  const at = (count: number, agentState: AgentState = 'running', loaded = true) => ({
    loaded,
    events: steps.slice(0, count),
    state: { ...INITIAL_STATE, agentState },
  });
  const { result, rerender } = renderHook((snapshot: Parameters<typeof useFollow>[0]) => useFollow(snapshot, show), {
    initialProps: at(0, 'loading', false),
  });
  // What was done before anybody looked moves nothing, and comes after the page is there.
  rerender(at(1, 'running', false));
  rerender(at(1));
  expect(show).not.toHaveBeenCalled();
  const rejected = work(...Array.from({ length: 3 }, () => ['run', { command: 'rm x', confirmation_state: 'rejected' }] as const));
  rerender({ ...at(1), events: [...steps.slice(0, 1), ...rejected.slice(1)] });
  expect(show).not.toHaveBeenCalled();
  for (const count of [2, 3, 4, 5]) rerender(at(count));
  expect(show.mock.calls.map(([{ tab }]) => tab)).toEqual(['changes', 'notebook', 'browser']);
  act(() => result.current.set(false));
  rerender(at(6));
  expect(show).toHaveBeenCalledTimes(3);
  act(() => result.current.set(true));
  expect(show).toHaveBeenLastCalledWith({ tab: 'terminal' });
  rerender(at(6, 'finished'));
  expect(show).toHaveBeenLastCalledWith({ tab: 'changes' });
});

it('CL974: a turn that ends with a question or an answer shows what changed too, and the next one that changes nothing does not', () => {
  const show = vi.fn<Parameters<typeof useFollow>[1]>();
  const at = (count: number, agentState: AgentState) => ({
    loaded: true,
    events: steps.slice(0, count),
    state: { ...INITIAL_STATE, agentState },
  });
  const { rerender } = renderHook((snapshot: Parameters<typeof useFollow>[0]) => useFollow(snapshot, show), {
    initialProps: at(0, 'running'),
  });
  for (const count of [1, 2, 3]) rerender(at(count, 'running'));
  rerender(at(3, 'awaiting_user_input'));
  expect(show).toHaveBeenLastCalledWith({ tab: 'changes' });
  rerender(at(3, 'running'));
  rerender(at(6, 'running'));
  rerender(at(6, 'awaiting_user_input'));
  expect(show).toHaveBeenLastCalledWith({ tab: 'terminal' });
});
