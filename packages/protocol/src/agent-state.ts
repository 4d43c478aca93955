/**
 * Agent states, their one transition table, and what a person may ask for in each.
 * `init` exists only in old generations and in `openhands-events.md`; inside it is a state like any other.
 */
export const AGENT_STATES = [
  'loading',
  'init',
  'running',
  'awaiting_user_input',
  'paused',
  'stopped',
  'finished',
  'rejected',
  'error',
  'rate_limited',
  'awaiting_user_confirmation',
  'user_confirmed',
  'user_rejected',
] as const;

export type AgentState = (typeof AGENT_STATES)[number];

/** What may follow a state in which the loop acts: all but these, which other states lead to. */
const NOT_FROM_ACTING: ReadonlySet<AgentState> = new Set(['init', 'user_confirmed', 'user_rejected']);
const FROM_ACTING = AGENT_STATES.filter((state) => !NOT_FROM_ACTING.has(state));

/**
 * The states that may follow each; `FoldedLog` appends no other step.
 *
 *   loading ──▶ awaiting_user_input ◀───▶ running ──▶ finished, rejected
 *                         ▲               ▲ ▲ ▲ │
 *            paused ◀─────┼───────────────┘ │ │ │
 *            rate_limited ◀─────────────────┘ │ ▼
 *                         │                   │ awaiting_user_confirmation ◀── paused
 *                         │                   │            │          │
 *                         │        user_confirmed ◀────────┘          │
 *                         └─────── user_rejected ◀────────────────────┘
 *
 * Not drawn: any state may follow itself, and every state may go to `loading` (a restart), `running`, `stopped` and `error`; where the
 * loop acts (`isActive`) everything that may follow `running` may follow, so that a log which lost its `running` is not stuck.
 */
const NEXT = {
  loading: ['init', 'awaiting_user_input', 'running', 'paused', 'stopped', 'error'],
  init: ['loading', 'running', 'awaiting_user_input', 'paused', 'stopped', 'error'],
  running: FROM_ACTING,
  awaiting_user_input: ['loading', 'running', 'paused', 'stopped', 'finished', 'rejected', 'error'],
  paused: ['loading', 'running', 'awaiting_user_input', 'awaiting_user_confirmation', 'stopped', 'error'],
  stopped: ['loading', 'running', 'awaiting_user_input', 'error'],
  finished: ['loading', 'running', 'awaiting_user_input', 'stopped', 'error'],
  rejected: ['loading', 'running', 'awaiting_user_input', 'stopped', 'error'],
  error: ['loading', 'running', 'awaiting_user_input', 'stopped'],
  rate_limited: FROM_ACTING,
  awaiting_user_confirmation: ['loading', 'user_confirmed', 'user_rejected', 'running', 'paused', 'stopped', 'error'],
  user_confirmed: FROM_ACTING,
  user_rejected: FROM_ACTING,
} as const satisfies Record<AgentState, readonly AgentState[]>;

/** Whether the table allows `from → to`. */
export function canTransition(from: AgentState, to: AgentState): boolean {
  return from === to || (NEXT[from] as readonly AgentState[]).includes(to);
}

/** A step that the table does not list. It is a fault of this program: what clients ask for is checked with `canRequest`. */
export class IllegalTransition extends Error {
  override name = 'IllegalTransition';

  constructor(from: AgentState, to: AgentState) {
    super(`its state is ${from}, which ${to} cannot follow`);
  }
}

/** The states a client may name in `change_agent_state`, and the states in which each is legal. */
const REQUESTS = {
  running: ['paused', 'stopped', 'error', 'rate_limited', 'init', 'awaiting_user_input', 'finished', 'rejected', 'running'],
  paused: ['running', 'rate_limited', 'awaiting_user_input', 'awaiting_user_confirmation', 'user_confirmed', 'user_rejected', 'paused'],
  stopped: AGENT_STATES,
  user_confirmed: ['awaiting_user_confirmation'],
  user_rejected: ['awaiting_user_confirmation'],
  awaiting_user_input: ['running', 'rate_limited', 'paused', 'awaiting_user_input'],
  finished: ['running', 'awaiting_user_input', 'finished'],
} as const satisfies Partial<Record<AgentState, readonly AgentState[]>>;

export type RequestableState = keyof typeof REQUESTS;

/** Whether a client may ask for `to` while the agent is in `from`. */
export function canRequest(from: AgentState, to: AgentState): boolean {
  const legal: readonly AgentState[] | undefined = (REQUESTS as Partial<Record<AgentState, readonly AgentState[]>>)[to];
  return legal?.includes(from) ?? false;
}

/** The loop may take a step of its own only in these. */
export function isActive(state: AgentState): boolean {
  return state === 'running' || state === 'rate_limited' || state === 'user_confirmed' || state === 'user_rejected';
}

/** Reads a state in any letter case; `undefined` for anything that is not one. */
export function parseAgentState(value: unknown): AgentState | undefined {
  if (typeof value !== 'string') return undefined;
  const lower = value.toLowerCase() as AgentState;
  return AGENT_STATES.includes(lower) ? lower : undefined;
}
