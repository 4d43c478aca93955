const STATES: Readonly<Record<string, string>> = {
  awaiting_user_input: 'your turn',
  awaiting_user_confirmation: 'needs a decision',
  rate_limited: 'waiting',
  error: 'failed',
  finished: 'done',
};

/** The state of a conversation's agent, as a person reads it. */
export function stateWords(state: string | null | undefined): string {
  return STATES[state ?? ''] ?? state ?? '';
}
