import type { Observation } from '../../event.ts';
import type { Frame, Phase } from '../dialect.ts';

/** An action as W0 to W2 see it: no id, time or source. */
export function action(kind: string, args: Frame, message: string): Frame {
  return { action: kind, args, message };
}

export function observation(kind: string, content: string, extras: Frame, message: string): Frame {
  return { observation: kind, content, extras, message };
}

/** What the agent says or thinks. Nothing when there is nothing to say. */
export function thinking(text: string): readonly Frame[] {
  return text === '' ? [] : [action('think', { thought: text }, text)];
}

/** A result whose kind did not exist yet: spring's frontends put its `message` into the chat. */
export function chatText(text: string): readonly Frame[] {
  return text === '' ? [] : [observation('message', text, { role: 'assistant' }, text)];
}

/** A line for the chat log that is no event. */
export function line(text: string): Frame {
  return { message: text };
}

/** Live, a status has just reported the failure, with the state's content; in a replay nothing else does. */
export function endedBy({ content, extras: { reason } }: Observation<'agent_state_changed'>, phase: Phase): readonly Frame[] {
  if (phase === 'live' && content !== '') return [];
  return [failed(`The agent has stopped with an error: ${content || reason || 'unknown'}`)];
}

/** Shown in the chat log; the only way of spring 2024 to say that something failed. */
export function failed(text: string): Frame {
  return { error: true, message: text };
}
