import type { ObservationDraft } from '@tendon/protocol';
import type { EffectReport, ExecuteLine, ExecuteRequest } from '@tendon/protocol/executor-api';
import { type ActionHandler, errorObservation, reasonOf } from '../action-handler.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { OutputFolder } from './output-folder.ts';
import { createSecretGuard } from './secret-guard.ts';
import { followEffect, type Effect } from './follow-effect.ts';
import { createSpool } from './spool.ts';

export interface EffectsOptions {
  readonly incarnation: string;
  readonly journal: Journal;
  readonly handlers: Readonly<Record<string, ActionHandler>>;
  readonly outputs: OutputFolder;
}

const ANOTHERS = 'its key is that of another action, which was started here before';
const MAX_SPOOLS = 32;
/** Of an output that is read piece by piece. */
const PIECE_BYTES = 1024 * 1024;
/** As much as is given without a gap: to people who watch, and to the server's own commands. */
const WHOLE_BYTES = { session: 4 * 1024 * 1024, static: 16 * 1024 * 1024 };

/**
 * Runs actions by key. Owns the running ones and their output; what was seen before is in the journal.
 *
 * EFF1  A key is started at most once, whatever is asked, crashes or repeats: asking again attaches to the running effect or
 *       gives its recorded outcome. A key that was seen with another digest is another action's: it is refused, never answered.
 * EFF2  Nobody who follows an effect can hold it up: they read from its spool at their own pace, and may leave and come back.
 * EFF3  An effect always ends with an outcome; an outcome is in the journal before anyone sees it.
 */
export class Effects {
  readonly #incarnation: string;
  readonly #journal: Journal;
  readonly #handlers: EffectsOptions['handlers'];
  readonly #outputs: OutputFolder;
  readonly #guard = createSecretGuard();
  /** Running, and the newest that ended. */
  readonly #effects = new Map<string, Effect>();
  /** Why nothing new starts. */
  #held: string | undefined;

  constructor({ incarnation, journal, handlers, outputs }: EffectsOptions) {
    this.#incarnation = incarnation;
    this.#journal = journal;
    this.#handlers = handlers;
    this.#outputs = outputs;
  }

  /** Lines for one request; the last one is no `output`. */
  async *execute(request: ExecuteRequest): AsyncGenerator<ExecuteLine> {
    const refusal = refusalOf(request, this.#incarnation, this.#handlers);
    if (refusal !== undefined) return yield { type: 'refused', reason: refusal };
    if (this.#isAnothers(request.key, request.digest)) return yield { type: 'refused', reason: ANOTHERS };
    const known = this.#effects.get(request.key);
    const entry = known ? undefined : this.#journal.find(request.key);
    if (entry) return yield lineOf(entry, this.#incarnation);
    const hindrance = known ? undefined : (this.#held ?? this.#recordStart(request));
    if (hindrance !== undefined) return yield { type: 'refused', reason: hindrance };
    yield* followEffect(
      known ?? this.#begin(request, this.#handlers[request.action.action]!),
      request.outputFrom ?? 0,
      request.action.args.is_static === true ? WHOLE_BYTES.static : WHOLE_BYTES.session,
    );
  }

  /** Only for that very action when its digest is given. */
  report(key: string, digest?: string): EffectReport {
    if (this.#isAnothers(key, digest)) return { state: 'another' };
    const entry = this.#journal.find(key);
    if (!entry) return { state: 'never-seen' };
    const observation = this.#effects.get(key)?.outcome ?? entry.outcome();
    return observation ? { state: 'done', observation } : { state: 'started' };
  }

  /** A piece of its output from there on, empty at the end; nothing where none is stored. */
  output(key: string, offset: number): Buffer | undefined {
    return this.#effects.get(key)?.spool.read(offset, PIECE_BYTES) ?? this.#outputs.read(key, offset, PIECE_BYTES);
  }

  /** False for a key that is not running, or is another action's. */
  cancel(key: string, digest?: string): boolean {
    const effect = this.#effects.get(key);
    if (!effect || effect.outcome || this.#isAnothers(key, digest)) return false;
    effect.cancel.abort();
    return true;
  }

  /** Of all that run. */
  cancelAll(): void {
    for (const effect of this.#effects.values()) if (!effect.outcome) effect.cancel.abort();
  }

  /** From now on nothing new starts, for this reason; `undefined` lets it again. */
  hold(reason: string | undefined): void {
    this.#held = reason;
  }

  /** In the folder of outputs, for a file that the host puts there. */
  makeRoom = (): void => this.#outputs.makeRoom();

  get running(): number {
    return [...this.#effects.values()].filter((effect) => !effect.outcome).length;
  }

  /** Why the journal cannot take it, e.g. a full disk: what is not in there must not run. */
  #recordStart({ key, digest }: ExecuteRequest): string | undefined {
    try {
      this.#journal.started(key, digest);
      return undefined;
    } catch (error) {
      return `it could not be recorded: ${reasonOf(error)}`;
    }
  }

  #begin(request: ExecuteRequest, handler: ActionHandler): Effect {
    const spool = createSpool(this.#outputs.fromBytes, () => this.#outputs.create(request.key));
    const effect: Effect = {
      ...{ spool, cancel: new AbortController(), outcome: undefined },
      ...{ ended: Promise.withResolvers(), changes: 0, waiting: [] },
    };
    this.#effects.set(request.key, effect);
    this.#forgetOldest();
    this.#guard.learn(request.secrets);
    void this.#run(request, handler, effect);
    return effect;
  }

  async #run({ key, action, secrets }: ExecuteRequest, handler: ActionHandler, effect: Effect): Promise<void> {
    const { spool } = effect;
    const masked = this.#guard.stream();
    const show = (piece: string | Buffer): void => {
      if (piece.length > 0 && spool.append(piece)) announce(effect);
    };
    const context = {
      signal: effect.cancel.signal,
      output: (piece: string | Buffer) => show(masked.push(piece)),
      outputPath: () => spool.path,
    };
    const observation = await carryOut(handler, { ...action, key, secrets }, context);
    show(masked.flush());
    spool.end();
    const outcome = this.#guard.observation(observation);
    this.#record(key, outcome);
    effect.outcome = outcome;
    effect.ended.resolve();
    announce(effect);
  }

  #record(key: string, outcome: ObservationDraft): void {
    try {
      this.#journal.done(key, outcome);
    } catch (error) {
      process.stderr.write(`journal: ${reasonOf(error)}\n`); // a full disk: the answer still goes out
    }
  }

  #forgetOldest(): void {
    for (const [key, effect] of this.#effects) {
      if (this.#effects.size <= MAX_SPOOLS) return;
      if (!effect.outcome) continue;
      effect.spool.close();
      this.#effects.delete(key);
    }
  }

  /** An entry of an executor of protocol 1 has no digest: it counts as the same action. */
  #isAnothers(key: string, digest: string | undefined): boolean {
    return digest !== undefined && (this.#journal.find(key)?.digest ?? digest) !== digest;
  }
}

async function carryOut(
  handler: ActionHandler,
  { key, args, timeout, secrets }: ExecuteRequest['action'] & Pick<ExecuteRequest, 'key' | 'secrets'>,
  context: Parameters<ActionHandler>[1],
): Promise<ObservationDraft> {
  try {
    return await handler({ key, args, ...(timeout !== undefined && { timeout }), ...(secrets && { secrets }) }, context);
  } catch (error) {
    return errorObservation(`The executor failed: ${reasonOf(error)}`);
  }
}

function announce(effect: Effect): void {
  effect.changes += 1;
  for (const more of effect.waiting.splice(0)) more();
}

/** Whatever it was sent: nothing of it has been looked at before. */
function refusalOf(request: ExecuteRequest, own: string, handlers: EffectsOptions['handlers']): string | undefined {
  const { key, digest, incarnation, action, secrets, outputFrom } = request as { readonly [name in keyof ExecuteRequest]?: unknown };
  if (typeof key !== 'string' || key === '' || key.length > 256) return 'the key is missing or too long';
  if (incarnation !== own)
    return `this is executor ${own}, not ${typeof incarnation === 'string' ? incarnation.slice(0, 100) : 'what was asked for'}`;
  if (!isRecord(action) || !isRecord(action.args) || typeof action.action !== 'string') return 'the action is malformed';
  if (action.timeout !== undefined && !(typeof action.timeout === 'number' && action.timeout > 0)) return 'the timeout must be seconds';
  if (typeof digest !== 'string' || digest === '' || digest.length > 128) return 'the digest is missing or too long';
  if (outputFrom !== undefined && !(Number.isSafeInteger(outputFrom) && (outputFrom as number) >= 0))
    return 'outputFrom must be an offset in bytes';
  if (secrets !== undefined && !(isRecord(secrets) && Object.values(secrets).every((value) => typeof value === 'string')))
    return 'secrets must be texts by name';
  if (Object.hasOwn(handlers, action.action)) return undefined;
  return `actions of kind ${action.action.slice(0, 100)} are not carried out here`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A key that is in the journal but not in memory. */
function lineOf(entry: JournalEntry, incarnation: string): ExecuteLine {
  const observation = entry.outcome();
  if (observation) return { type: 'outcome', observation };
  const what = entry.state === 'done' ? 'its outcome is too old to be stored' : 'no outcome was recorded';
  const who = entry.incarnation === incarnation ? 'it was started before' : `it was started by ${entry.incarnation}, which is gone`;
  return { type: 'unknown', reason: `${who}; ${what}` };
}
