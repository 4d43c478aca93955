import { describe, expect, it } from 'vitest';
import { AGENT_STATES, canRequest, canTransition, isActive, parseAgentState, type AgentState } from './agent-state.ts';

/** Columns of the tables below, two letters each. */
const COLUMNS = {
  ld: 'loading',
  in: 'init',
  ru: 'running',
  ui: 'awaiting_user_input',
  pa: 'paused',
  st: 'stopped',
  fi: 'finished',
  re: 'rejected',
  er: 'error',
  rl: 'rate_limited',
  ac: 'awaiting_user_confirmation',
  uc: 'user_confirmed',
  ur: 'user_rejected',
} as const satisfies Record<string, AgentState>;

/** What is true of each pair of states; a state without a row does not compile. */
function cells(rows: Record<AgentState, string>): Record<AgentState, Record<AgentState, boolean>> {
  const row = (line: string) => Object.fromEntries(Object.values(COLUMNS).map((state, index) => [state, line.split(' ')[index] === '●']));
  return Object.fromEntries(AGENT_STATES.map((state) => [state, row(rows[state])])) as Record<AgentState, Record<AgentState, boolean>>;
}

/** From the row to the column. */
const TRANSITIONS = cells({
  //                           ld in ru ui pa st fi re er rl ac uc ur
  loading: /*             */ '● ● ● ● ● ● · · ● · · · ·',
  init: /*                */ '● ● ● ● ● ● · · ● · · · ·',
  running: /*             */ '● · ● ● ● ● ● ● ● ● ● · ·',
  awaiting_user_input: /* */ '● · ● ● ● ● ● ● ● · · · ·',
  paused: /*              */ '● · ● ● ● ● · · ● · ● · ·',
  stopped: /*             */ '● · ● ● · ● · · ● · · · ·',
  finished: /*            */ '● · ● ● · ● ● · ● · · · ·',
  rejected: /*            */ '● · ● ● · ● · ● ● · · · ·',
  error: /*               */ '● · ● ● · ● · · ● · · · ·',
  rate_limited: /*        */ '● · ● ● ● ● ● ● ● ● ● · ·',
  awaiting_user_confirmation: '● · ● · ● ● · · ● · ● ● ●',
  user_confirmed: /*      */ '● · ● ● ● ● ● ● ● ● ● ● ·',
  user_rejected: /*       */ '● · ● ● ● ● ● ● ● ● ● · ●',
});

/** Whether a client may ask for the column while the agent is in the row. */
const REQUESTS = cells({
  //                           ld in ru ui pa st fi re er rl ac uc ur
  loading: /*             */ '· · · · · ● · · · · · · ·',
  init: /*                */ '· · ● · · ● · · · · · · ·',
  running: /*             */ '· · ● ● ● ● ● · · · · · ·',
  awaiting_user_input: /* */ '· · ● ● ● ● ● · · · · · ·',
  paused: /*              */ '· · ● ● ● ● · · · · · · ·',
  stopped: /*             */ '· · ● · · ● · · · · · · ·',
  finished: /*            */ '· · ● · · ● ● · · · · · ·',
  rejected: /*            */ '· · ● · · ● · · · · · · ·',
  error: /*               */ '· · ● · · ● · · · · · · ·',
  rate_limited: /*        */ '· · ● ● ● ● · · · · · · ·',
  awaiting_user_confirmation: '· · · · ● ● · · · · · ● ●',
  user_confirmed: /*      */ '· · · · ● ● · · · · · · ·',
  user_rejected: /*       */ '· · · · ● ● · · · · · · ·',
});

const pairs = AGENT_STATES.flatMap((from) => AGENT_STATES.map((to) => [from, to] as const));
const sources = (to: AgentState): AgentState[] => AGENT_STATES.filter((from) => from !== to && canTransition(from, to));

describe('agent states', () => {
  it('AS1: the columns name every state once', () => {
    expect(Object.values(COLUMNS).toSorted()).toEqual([...AGENT_STATES].toSorted());
  });

  it('AS2: the transition table, cell by cell', () => {
    for (const [from, to] of pairs) expect([from, to, canTransition(from, to)]).toEqual([from, to, TRANSITIONS[from][to]]);
  });

  it('AS3: any state may follow itself', () => {
    for (const state of AGENT_STATES) expect(canTransition(state, state)).toBe(true);
  });

  it('AS4: an end (finished, rejected) is reached from where the agent acts or waits for the user, and left for work, a stop or an error', () => {
    for (const end of ['finished', 'rejected'] as const) {
      expect(sources(end)).toEqual(['running', 'awaiting_user_input', 'rate_limited', 'user_confirmed', 'user_rejected']);
      expect(AGENT_STATES.filter((to) => to !== end && canTransition(end, to))).toEqual([
        'loading',
        'running',
        'awaiting_user_input',
        'stopped',
        'error',
      ]);
    }
  });

  it('AS5: a decision follows only the question', () => {
    expect(sources('user_confirmed')).toEqual(['awaiting_user_confirmation']);
    expect(sources('user_rejected')).toEqual(['awaiting_user_confirmation']);
    expect(sources('awaiting_user_confirmation')).toEqual(['running', 'paused', 'rate_limited', 'user_confirmed', 'user_rejected']);
  });

  it('AS6: only an agent that acts is held up by its provider', () => {
    expect(sources('rate_limited')).toEqual(['running', 'user_confirmed', 'user_rejected']);
  });

  it('AS7: everything can fail and be stopped, and nothing is a dead end', () => {
    for (const state of AGENT_STATES) {
      expect([state, canTransition(state, 'error'), canTransition(state, 'stopped'), canTransition(state, 'running')]).toEqual([
        state,
        true,
        true,
        true,
      ]);
    }
  });

  it('AS8: what a client may ask for, cell by cell', () => {
    for (const [from, to] of pairs) expect([from, to, canRequest(from, to)]).toEqual([from, to, REQUESTS[from][to]]);
  });

  it('AS9: what may be asked for, the transition table allows', () => {
    for (const [from, to] of pairs) expect([from, to, !canRequest(from, to) || canTransition(from, to)]).toEqual([from, to, true]);
  });

  it('AS10: the loop steps only in these', () => {
    expect(AGENT_STATES.filter(isActive)).toEqual(['running', 'rate_limited', 'user_confirmed', 'user_rejected']);
  });

  it('AS575: where the loop acts, all may follow that may follow `running`', () => {
    const goals = AGENT_STATES.filter((to) => canTransition('running', to));
    for (const from of AGENT_STATES.filter(isActive)) expect([from, goals.filter((to) => !canTransition(from, to))]).toEqual([from, []]);
  });

  it('AS11: a state is read in any letter case, and nothing else is one', () => {
    for (const state of AGENT_STATES) for (const spelling of [state, state.toUpperCase()]) expect(parseAgentState(spelling)).toBe(state);
    for (const nonsense of ['', 'runing', ' running', 'toString', '__proto__', null, undefined, 3, {}, ['running']])
      expect(parseAgentState(nonsense)).toBeUndefined();
  });
});
