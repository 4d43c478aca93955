import { type Observation, isAction, type Action } from '../../event.ts';
import type { Frame, Phase } from '../dialect.ts';

/** An action as opendevin-2024-03 to opendevin-2024-05 see it: no id, time or source. */
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

const ROOT = '/workspace';

/** A path as in 0.3 to 0.5, relative to the workspace. Any other path breaks their file tree. */
export function inWorkspace(path: string): string {
  if (path === ROOT) return '.';
  return path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1).replace(/^\/+/, '') : path;
}

/** The `write` of a file outside the workspace, which has no place in the file tree of 0.3 to 0.5. */
export function writesOutside(event: Action | Observation): boolean {
  if (isAction(event)) return event.action === 'write' && inWorkspace(event.args.path).startsWith('/');
  return event.observation === 'edit' && event.extras.new_content !== null && inWorkspace(event.extras.path).startsWith('/');
}

/** What was recalled, as lists of it were sent: for a question all that was found, else what a message brought up. */
export function memoriesOf({ content, extras }: Observation<'recall'>): readonly string[] {
  if (extras.query !== undefined) return content === '' ? [] : [content];
  return extras.microagent_knowledge.map((item) => item.content);
}
