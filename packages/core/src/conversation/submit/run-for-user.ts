import { catalogError, type ActionDraft } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import type { Engine } from '../../loop/engine.ts';
import { execute } from '../../loop/execute.ts';
import type { RunnableAction } from '../../runtime.ts';
import type { SubmitResult } from '../conversation.ts';

/** A person's own action in the sandbox, e.g. from the terminal: whatever the agent does, in turn with the agent's actions. */
export async function runForUser(engine: Engine, action: ActionDraft): Promise<SubmitResult> {
  const acquired = await engine.sandbox.acquire(engine.aborts.closing);
  if (!acquired.ok) return { ok: false, error: catalogError('RUNTIME_FAILED', acquired.reason) };
  const args = 'confirmation_state' in action.args ? { ...action.args, confirmation_state: 'confirmed' } : action.args;
  const draft = { ...action, args, source: 'user', executor: acquired.runtime.incarnation } as SourcedDraft;
  const [event] = await engine.folded.append(() => [draft]);
  carryOut(engine, event as RunnableAction);
  return { ok: true, event: event! };
}

/** Begins when the lane is free; a person's stop answers it instead. */
export function carryOut(engine: Engine, action: RunnableAction): void {
  const done = engine.lane(async () => {
    if (!engine.folded.state.requested && !engine.aborts.closing.aborted) await execute(engine, action);
  });
  done.catch((error: unknown) => halt(engine, error));
}

/** The storage failed: what was begun stays pending in the log, and the next action of a person tries again. */
export function halt(engine: Engine, error: unknown): void {
  engine.report(error);
  engine.emit({ volatile: 'status', type: 'error', id: 'STATUS$ERROR', message: catalogError('INTERNAL').message });
}
