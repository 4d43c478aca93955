/**
 * Carries out one runnable action in the sandbox and appends what became of it. Callers hold the mutex `executing`,
 * or `holding`.
 *
 * Invariants
 * X1  An action is dispatched only when it is stamped in the log, and to another incarnation than the stamped one only when this
 *     process appended it and never dispatched it: after a crash the stamp shows that its outcome is unknown.
 *     `ports.dispatched` holds every action that may have been dispatched, by any process, and whether or not its outcome could be
 *     stored; the wall clock plays no part.
 * X2  Every dispatched action gets one observation; when the conversation is closed first, it stays pending in the log.
 * X3  After an unknown outcome nothing else of the same answer is begun; what runs beside it gets its own.
 * X4  Of an action that is refused because another server has the conversation now nothing is recorded here.
 */
import { catalogError, type Action, type ObservationDraft } from '@tendon/protocol';
import type { EngineState } from './engine-state.ts';
import type { SourcedDraft } from '../log/event-log.ts';
import { StorageError } from '../log/storage-error.ts';
import type { ExecuteResult, OutputChunk, RunnableAction } from '../sandbox/runtime.ts';
import type { AsidePorts } from './ask-aside.ts';
import { executeDraftedEdit, needsModel } from './drafted-edit.ts';
import { askAfterAction } from './hooks.ts';
import type { HostPorts, LoopPorts } from './ports.ts';
import { answerTo, notice, notStarted, outcomeUnknown, stateChanged } from './notices.ts';
import type { AddedCost } from './host-capabilities.ts';

/** Backstop: how long a cancelled action may take to end before its outcome counts as unknown. Runtimes give up earlier. */
const CANCEL_GRACE_MS = 40_000;

export type ExecutePorts = AsidePorts &
  Pick<LoopPorts, 'log' | 'folded' | 'sandbox' | 'aborts' | 'dispatched' | 'hooks'> &
  Pick<HostPorts, 'clock' | 'mask'>;

interface ExecutionOptions {
  readonly cancelled?: boolean;
  /** Ids of the actions that run at the same time. */
  readonly beside?: ReadonlySet<number>;
}

/** Rejects with the storage's error, and with the same (`fenced`) when the sandbox says that another server has taken the conversation over. */
export async function execute(ports: ExecutePorts, action: RunnableAction, options: ExecutionOptions = {}): Promise<void> {
  if (!isPending(ports.folded.state, action.id)) return;
  const running = ports.aborts.beginAction();
  if (options.cancelled) running.cancel();
  try {
    const result = await carryOut(ports, action, running.signal);
    if (result === 'left') return;
    if (result.outcome === 'fenced') throw new StorageError('fenced', result.reason);
    const closing = AbortSignal.any([running.signal, ports.aborts.closing]);
    const notices = result.outcome === 'observed' ? await askAfterAction(ports, action, result.observation, closing) : [];
    if (ports.aborts.closing.aborted && notices.length > 0) return;
    await ports.folded.append((state) =>
      isPending(state, action.id) ? [...toDrafts(state, action, result, options.beside), ...notices] : [],
    );
    ports.dispatched.delete(action.id);
  } finally {
    running.end();
  }
}

function isPending({ conversation }: EngineState, id: number): boolean {
  return conversation.pending.some((action) => action.id === id);
}

/** With what was spent on a model for it; of an attempt that was given up for another it is not counted. */
type Result = (ExecuteResult & { readonly spent?: AddedCost }) | 'left';

async function carryOut(ports: ExecutePorts, action: RunnableAction, signal: AbortSignal): Promise<Result> {
  if (action.executor === undefined) return { outcome: 'observed', observation: notice.neverStarted };
  const first = await attempt(ports, action, signal);
  // It certainly did not run, so another sandbox may take it, once.
  if (first === 'left' || first.outcome !== 'not-started' || signal.aborted) return first;
  return attempt(ports, action, signal);
}

/** The border to sandboxes: a rejection, a hang after cancelling and the closing of the conversation end the waiting. */
function attempt(ports: ExecutePorts, action: RunnableAction, signal: AbortSignal): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const over = new AbortController();
  const once = { once: true, signal: over.signal };
  const giveUp = (): void => {
    const reason = 'it was cancelled and did not end';
    const waited = ports.clock.sleep(CANCEL_GRACE_MS, { signal: over.signal });
    waited.then(() => resolve({ outcome: 'unknown', reason }), ignore);
  };
  ports.aborts.closing.addEventListener('abort', () => resolve('left'), once);
  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp, once);
  dispatch(ports, action, signal).then(resolve, (error: unknown) => resolve({ outcome: 'unknown', reason: String(error) }));
  return promise.finally(() => over.abort());
}

async function dispatch(ports: ExecutePorts, action: RunnableAction, signal: AbortSignal): Promise<Result> {
  const { dispatched, aborts, log } = ports;
  const isFresh = !dispatched.has(action.id);
  // An action that may be running must be found even after a cancel: only its executor can end it.
  const acquired = await (isFresh
    ? ports.sandbox.acquire(AbortSignal.any([signal, aborts.closing]))
    : ports.sandbox.acquire(aborts.closing, { unwanted: signal }));
  if (aborts.closing.aborted) return 'left';
  if (!acquired.ok && acquired.isFenced) return { outcome: 'fenced', reason: acquired.reason };
  if (!acquired.ok) return { outcome: isFresh ? 'not-started' : 'unknown', reason: acquired.reason };
  const { runtime } = acquired;
  const executor = isFresh ? runtime.incarnation : (dispatched.get(action.id) ?? action.executor!);
  dispatched.set(action.id, executor);
  const output = createOutputFrames(action.id, ports);
  const options = { signal, onOutput: output.push, epoch: log.epochOf(action.id), isFresh };
  const sent = { ...action, executor };
  const drafts = needsModel(sent) && executor === runtime.incarnation;
  try {
    const result = await (drafts ? executeDraftedEdit(ports, runtime, sent, options) : runtime.execute(sent, options));
    if (result.outcome === 'not-started') dispatched.delete(action.id);
    return result;
  } finally {
    output.end();
  }
}

function ignore(): void {}

function toDrafts(
  state: EngineState,
  action: RunnableAction,
  result: Exclude<Result, 'left' | { readonly outcome: 'fenced' }>,
  beside?: ReadonlySet<number>,
): readonly SourcedDraft[] {
  const [first, ...rest] = draftsOf(state, action, result, beside);
  if (!first) return [];
  return [result.spent ? { ...first, llm_metrics: result.spent(state.metrics) } : first, ...rest];
}

function draftsOf(
  state: EngineState,
  action: RunnableAction,
  result: Exclude<ExecuteResult, { readonly outcome: 'fenced' }>,
  beside: ReadonlySet<number> = new Set(),
): readonly SourcedDraft[] {
  if (result.outcome === 'observed') return [answerTo(action, withRestored(action, result.observation))];
  if (result.outcome === 'unknown') {
    const others = sameAnswer(state.conversation.pending, action).filter(({ id }) => !beside.has(id));
    const rest = others.map((other) => answerTo(other, notice.afterUnknown));
    return [answerTo(action, outcomeUnknown(result.reason)), ...rest];
  }
  // Somebody asked for an end: that answers everything which did not run.
  if (state.requested) return [];
  const failed = answerTo(action, notStarted(result.reason));
  // Of several that could not start at the same time, the first has reported it.
  const isReported = state.conversation.agentState === 'error';
  return action.source === 'agent' && !isReported ? [failed, sandboxFailed(result.reason)] : [failed];
}

/** What becomes of the conversation is the log's to say, not the sandbox's. */
function withRestored(action: RunnableAction, observation: ObservationDraft): ObservationDraft {
  if (action.action !== 'restore_checkpoint' || observation.observation !== 'restore_checkpoint') return observation;
  const { checkpoint, what, from } = action.args;
  return { ...observation, extras: { ...observation.extras, checkpoint, what, from } };
}

function sameAnswer(pending: readonly Action[], { id, tool_call_metadata: call }: RunnableAction): readonly Action[] {
  if (!call) return [];
  return pending.filter((other) => other.id !== id && other.tool_call_metadata?.model_response.id === call.model_response.id);
}

export function sandboxFailed(reason: string): SourcedDraft {
  const { message, messageId } = catalogError('RUNTIME_FAILED', reason);
  return stateChanged('error', { reason: messageId, content: message });
}

/** After so long without output a question may be on the screen, whose last letter is not to be held back. */
const PAUSE_MS = 300;

/** Shows a running action's output as volatile frames, with secrets hidden also where a chunk cuts them in two. */
function createOutputFrames(cause: number, { mask, emit, clock }: Pick<HostPorts, 'mask' | 'emit' | 'clock'>): OutputFrames {
  const masked = mask.stream();
  const over = new AbortController();
  let isWaiting = false;
  /** Bytes of the whole output: received, and shown so far. */
  let received: number | undefined;
  let shown = 0;

  function show(text: string): void {
    if (text === '') return;
    emit({ volatile: 'output', cause, offset: shown, text });
    shown += byteLength(text);
  }

  async function untilPause(): Promise<void> {
    isWaiting = true;
    for (let before; before !== received && !over.signal.aborted;) {
      before = received;
      await clock.sleep(PAUSE_MS, over).catch(ignore);
    }
    isWaiting = false;
    if (!over.signal.aborted) show(masked.pause());
  }

  return {
    push(chunk) {
      shown += chunk.offset - (received ?? 0);
      received = chunk.offset + byteLength(chunk.text);
      show(masked.push(chunk.text));
      if (!isWaiting) void untilPause();
    },
    end() {
      over.abort();
      show(masked.flush());
    },
  };
}

interface OutputFrames {
  readonly push: (chunk: OutputChunk) => void;
  readonly end: () => void;
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
