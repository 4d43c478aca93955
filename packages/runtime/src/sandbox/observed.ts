import { OBSERVATIONS, type ObservationDraft, type ObservationKind, type RunnableKind } from '@tendon/protocol';

/** The kinds of observation that may answer each action; `error` always may. */
const ANSWERS = {
  run: ['run'],
  kill: ['run', 'success', 'null'],
  run_ipython: ['run_ipython'],
  read: ['read'],
  write: ['write'],
  edit: ['edit', 'read'],
  browse: ['browse', 'download'],
  browse_interactive: ['browse', 'download'],
  restore_checkpoint: ['restore_checkpoint'],
} as const satisfies Record<RunnableKind, readonly ObservationKind[]>;

/**
 * What the executor says it observed, made safe: of an allowed kind, of that kind's schema, and nothing but what an executor
 * may say. Who caused it, its source and its id are the engine's to give. Anything else becomes an error observation.
 */
export function observed(kind: RunnableKind, answer: unknown): ObservationDraft {
  if (typeof answer !== 'object' || answer === null) return invalidAnswer('it is not an object');
  const { observation, content, extras, success } = answer as Record<string, unknown>;
  const allowed: readonly unknown[] = [...ANSWERS[kind], 'error'];
  if (!allowed.includes(observation)) return invalidAnswer(`it is of kind ${JSON.stringify(observation)?.slice(0, 60)}`);
  if (typeof content !== 'string') return invalidAnswer('its content is not a text');
  const parsed = OBSERVATIONS[observation as ObservationKind].extras.safeParse(extras ?? {});
  if (!parsed.success) return invalidAnswer(`of its extras ${parsed.error.issues[0]?.path.join('.') || 'the whole'} is wrong`);
  return { observation, content, extras: parsed.data, ...(typeof success === 'boolean' && { success }) } as ObservationDraft;
}

export function invalidAnswer(why: string): ObservationDraft {
  const content = `The sandbox gave an answer that cannot be used: ${why}. The action may have taken effect.`;
  return { observation: 'error', content, extras: { error_id: 'SANDBOX$INVALID_ANSWER' } };
}
