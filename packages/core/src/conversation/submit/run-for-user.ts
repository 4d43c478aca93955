import { catalogError, NullObservation, takeOverOf, type ActionDraft, type CatalogError, type ObservationDraft } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import { failureFor } from '../../log/storage-error.ts';
import type { HostPorts, LoopPorts } from '../../engine/ports.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import { execute, type ExecutePorts } from '../../engine/execute.ts';
import { answerTo, notice } from '../../engine/notices.ts';
import type { RunnableAction } from '../../sandbox/runtime.ts';
import type { SubmitResult } from '../conversation.ts';
import { appendOnce } from './append-once.ts';

type UserPorts = ExecutePorts & Pick<LoopPorts, 'executing' | 'holding' | 'report'>;

/** A person's own action in the sandbox, e.g. from the terminal: whatever the agent does, in turn with the agent's actions. */
export async function runForUser(ports: UserPorts, action: ActionDraft): Promise<SubmitResult> {
  const answer = answerUnconfirmed(action);
  if (answer) return recordUnconfirmed(ports, action, answer);
  const acquired = await ports.sandbox.acquire(ports.aborts.closing);
  if (!acquired.ok) return { ok: false, error: catalogError('RUNTIME_FAILED', acquired.reason) };
  const draft = { ...action, source: 'user', executor: acquired.runtime.incarnation } as SourcedDraft;
  const result = await appendOnce(ports, action, (state) => refusalOf(action, state) ?? [draft]);
  if (result.ok && !result.isRepeated) carryOut(ports, result.event as RunnableAction);
  return result;
}

/** One person has the agent's terminal at a time. */
function refusalOf(action: ActionDraft, { conversation }: EngineState): CatalogError | undefined {
  if (!takesOver(action) || !takeOverOf(conversation)) return undefined;
  return catalogError('ILLEGAL_STATE', 'its terminal is taken over already');
}

function takesOver(action: ActionDraft): boolean {
  return action.action === 'run' && action.args.take_over === true;
}

/** The observation of an action that its sender did not confirm; undefined when it must run. */
function answerUnconfirmed({ args }: ActionDraft): ObservationDraft | undefined {
  if (!('confirmation_state' in args)) return undefined;
  if (args.confirmation_state === 'rejected') return notice.rejected;
  return args.confirmation_state === 'awaiting_confirmation' ? NullObservation.create('', {}) : undefined;
}

/** The action and its answer are one commit, so no crash between them leaves an action that another process would run. */
function recordUnconfirmed(ports: UserPorts, action: ActionDraft, answer: ObservationDraft): Promise<SubmitResult> {
  return appendOnce(ports, action, ({ conversation: { nextId } }) => [
    { ...action, source: 'user' },
    answerTo({ id: nextId, source: 'user' }, answer),
  ]);
}

/** Begins when no action is being carried out, or beside it where it takes the terminal over; a person's stop answers it instead. */
export function carryOut(ports: UserPorts, action: RunnableAction): void {
  const done = (takesOver(action) ? ports.holding : ports.executing).run(async () => {
    if (!ports.folded.state.requested && !ports.aborts.closing.aborted) await execute(ports, action);
  });
  done.catch((error: unknown) => halt(ports, error));
}

/** The storage failed: what was begun stays pending in the log, and the next action of a person tries again. */
export function halt({ report, emit }: Pick<HostPorts, 'report' | 'emit'>, error: unknown): void {
  report(error);
  emit({ volatile: 'status', type: 'error', id: 'STATUS$ERROR', message: failureFor(error).message });
}
