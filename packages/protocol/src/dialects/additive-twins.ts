import type { Action, Observation } from '../event.ts';

/** Old and new names side by side (decision D2): unknown keys hurt no client. */

/** `command_id` is what `kill` takes; −1 for a command in the foreground. */
export function runExtras(event: Observation<'run'>): Readonly<Record<string, unknown>> {
  const { extras } = event;
  return { ...extras, command_id: commandId(event), exit_code: extras.metadata.exit_code };
}

/** 0.28 to 0.50 always had it; an agent that did not say leaves it empty. */
export function finishArgs({ args }: Action<'finish'>): Readonly<Record<string, unknown>> {
  return { ...args, task_completed: args.task_completed ?? null };
}

export function commandId({ extras }: Observation<'run'>): number {
  const id = extras.command_id;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : -1;
}

/** `success` of the observations that have it; exactly `run` and `run_ipython`. */
export function successOf(event: Observation): boolean | undefined {
  if (event.observation === 'run') return event.success ?? event.extras.metadata.exit_code === 0;
  return event.observation === 'run_ipython' ? (event.success ?? true) : undefined;
}

export function knowledgeTwins(event: Observation<'recall'>): readonly Readonly<Record<string, unknown>>[] {
  return event.extras.microagent_knowledge.map((item) => ({ ...item, agent_name: item.name, trigger_word: item.trigger }));
}
