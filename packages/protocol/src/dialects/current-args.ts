import type { ActionKind } from '../event.ts';
import type { Frame } from './dialect.ts';

/** Old name → name of today. The new name wins when both are there. */
const RENAMED: Partial<Record<ActionKind, Readonly<Record<string, string>>>> = {
  run: { is_confirmed: 'confirmation_state' },
  run_ipython: { is_confirmed: 'confirmation_state' },
  message: { images_urls: 'image_urls', message: 'content' },
  change_agent_state: { state: 'agent_state', task_state: 'agent_state', task_state_action: 'agent_state' },
  kill: { command_id: 'id' },
  modify_task: { task_id: 'id' },
};

/** Arguments that mean nothing any more. `timestamp` is the server's to give. */
const DROPPED = new Set(['timestamp', 'keep_prompt', 'translated_ipython_code', '__proto__']);

/** The verbs of 0.4 and 0.5, as states. */
const VERBS: Readonly<Record<string, string>> = { start: 'running', resume: 'running', pause: 'paused', stop: 'stopped' };

/** Arguments of any generation under the names of today. `null` means "not given", for every one of them. `frame` is what they came in: words of a message may stand there. */
export function currentArgs(kind: ActionKind, args: Frame, frame: Frame = {}): Frame {
  const renamed = RENAMED[kind] ?? {};
  const result = new Map<string, unknown>();
  for (const [key, value] of Object.entries(args)) {
    if (DROPPED.has(key) || value === null) continue;
    const name = Object.hasOwn(renamed, key) ? renamed[key]! : key;
    if (name === key || (args[name] ?? null) === null) result.set(name, value);
  }
  if (kind === 'message' && !result.has('content') && frame.message !== undefined) result.set('content', frame.message);
  if (kind === 'finish' && !isCompletion(result.get('task_completed'))) result.delete('task_completed');
  const state = result.get('agent_state');
  if (kind === 'change_agent_state' && typeof state === 'string' && Object.hasOwn(VERBS, state)) result.set('agent_state', VERBS[state]);
  return Object.fromEntries(result);
}

function isCompletion(value: unknown): boolean {
  return value === 'true' || value === 'partial' || value === 'false';
}
