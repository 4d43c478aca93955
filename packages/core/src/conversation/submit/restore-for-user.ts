import { ACTIONS, catalogError, isAction, isActive, isRunnable, type ActionDraft, type CatalogError, type Event } from '@tendon/protocol';
import type { EngineState } from '../../engine/engine-state.ts';
import type { LoopPorts } from '../../engine/ports.ts';
import type { EventLog } from '../../log/event-log.ts';
import type { Checkpoint, RunnableAction, Runtime } from '../../sandbox/runtime.ts';
import type { SubmitResult } from '../conversation.ts';
import { appendOnce } from './append-once.ts';
import { carryOut } from './run-for-user.ts';

type RestorePorts = LoopPorts;
type Restore = ActionDraft<'restore_checkpoint'>;

/**
 * A person's undo: the files of the workspace, what the model is shown, or both go back to before the step of a checkpoint. It is an
 * action like every other: in the log first, carried out at most once, and its observation is the event from which the model is shown
 * less. Nothing in the log is changed.
 */
export async function restoreForUser(ports: RestorePorts, action: Restore): Promise<SubmitResult> {
  if (action.args.paths && action.args.what !== 'files')
    return { ok: false, error: catalogError('INVALID_ARGUMENTS', 'paths: only files go back by their paths; say what: files') };
  const busy = whyBusy(ports.folded.state);
  if (busy) return { ok: false, error: busy };
  const acquired = await ports.sandbox.acquire(ports.aborts.closing);
  if (!acquired.ok) return { ok: false, error: catalogError('RUNTIME_FAILED', acquired.reason) };
  const point = await findPoint(ports, acquired.runtime, action).catch((error: unknown) => catalogError('RUNTIME_FAILED', String(error)));
  if ('code' in point) return { ok: false, error: point };
  const args = { ...action.args, ...point };
  const draft = { ...action, args, source: 'user', executor: acquired.runtime.incarnation } as const;
  const result = await appendOnce(ports, action, (state) => whyBusy(state) ?? whyForgotten(state, point.from) ?? [draft]);
  if (result.ok && !result.isRepeated) carryOut(ports, result.event as RunnableAction);
  return result;
}

function whyBusy({ conversation: { agentState, pending }, requested }: EngineState): CatalogError | undefined {
  if (!isActive(agentState) && pending.length === 0 && !requested) return undefined;
  return catalogError('ILLEGAL_STATE', 'a checkpoint is restored when the agent rests and no action is open; stop or pause it first');
}

function whyForgotten({ condensation }: EngineState, from: number): CatalogError | undefined {
  if (from < 0 || from > condensation.end) return undefined;
  return catalogError('ILLEGAL_STATE', 'that part of the conversation has been condensed; only the files can be restored to it');
}

/** What the action says beyond what was asked: which files, and from where on the model is shown nothing. */
async function findPoint(
  { log, aborts }: RestorePorts,
  runtime: Runtime,
  { args: { checkpoint, what, from } }: Restore,
): Promise<Pick<Restore['args'], 'checkpoint' | 'from'> | CatalogError> {
  const { checkpoints } = await runtime.files.checkpoints({ signal: aborts.closing });
  const wanted = checkpoints.find(({ number }) => number === checkpoint);
  // Without the files there is nothing to find where the client names the point itself.
  if (!wanted && (what !== 'conversation' || from < 0)) return catalogError('INVALID_ARGUMENTS', `there is no checkpoint ${checkpoint}`);
  if (what === 'files') return { checkpoint, from: -1 };
  const named = from < 0 ? undefined : (await log.read({ from, limit: 1 }))[0];
  if (from >= 0 && !isPoint(named))
    return catalogError('INVALID_ARGUMENTS', `before: event ${from} is neither a message of the user nor a step`);
  if (named?.source === 'user') return { checkpoint, from };
  if (!named && (wanted!.isOfRestore || !isOf(log, wanted!)))
    return catalogError('INVALID_ARGUMENTS', `checkpoint ${checkpoint} belongs to no step of the agent; only its files can be restored`);
  const answer = await answerOf(log, named?.id ?? wanted!.actionId);
  // The model's answer goes as a whole, so the files are those before its first step.
  const first = answer.find((event) => isAction(event) && isRunnable(event.action) && ACTIONS[event.action].traits.mutating) ?? answer[0]!;
  const before = checkpoints.find((each) => each.actionId <= first.id && isOf(log, each)) ?? wanted;
  return { checkpoint: before?.number ?? checkpoint, from: answer[0]!.id };
}

/** Before which a conversation can go on. */
function isPoint(event: Event | undefined): boolean {
  if (!event || !isAction(event)) return false;
  return event.source === 'agent' || (event.source === 'user' && event.action === 'message');
}

/** An id that was lost and assigned again has another epoch. */
function isOf(log: EventLog, { actionId, epoch }: Checkpoint): boolean {
  return actionId < log.nextId && (log.epochOf(actionId) || undefined) === epoch;
}

/** More calls than any answer makes. */
const MAX_CALLS = 128;

/** The actions of the answer to which this one belongs, or it alone. */
async function answerOf(log: EventLog, id: number): Promise<readonly Event[]> {
  const from = Math.max(0, id - MAX_CALLS);
  const events = await log.read({ from, limit: id - from + 1 });
  const key = events.at(-1)?.tool_call_metadata?.model_response.id;
  const own = events.filter((event) => event.id === id || (key !== undefined && event.tool_call_metadata?.model_response.id === key));
  return own.filter((event) => isAction(event));
}
