/**
 * The events of one conversation's log and its volatile frames, on their way to one client. Owns the client's cursor, and neither the socket
 * nor the conversation.
 *
 * ES1  First load, reconnect and live are one loop over `log.follow`: every event once, in the order of the log.
 * ES2  Stored states are held back while the past is sent. The last of them is sent at its end, but never after an event with a higher id:
 *      clients ask for the events after the last frame they got. `loading` is never sent. A dialect that wants all states gets them in their place.
 *      A dialect that announces states sends the current one when none was stored after the cursor.
 * ES3  With more than `MAX_UNSENT_BYTES` under way the cursor waits; nothing is skipped. After `SLOW_CLIENT_MS` the wire is closed.
 * ES4  Where the wire has a channel beside the stream, the client is notified there when the replay begins and when it ends.
 * ES5  A client that asks for the end of the log is sent what was left out in one frame before it: which ids, and their fold.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock, Conversation } from '@tendon/core';
import type { DeltaFrame, Dialect, Frame, NetworkFrame, Phase, VolatileFrame, OutputFrame } from '@tendon/protocol';
import type { ConversationState } from '@tendon/protocol/reduce';
import type { OpenConversation } from '../conversations/open-conversations.ts';
import { AnswerReader } from '../events/answer-reader.ts';
import type { Metrics } from '../platform/metrics.ts';
import { Past } from './past.ts';
import type { Wire } from './wire.ts';

/** @internal */
export const MAX_UNSENT_BYTES = 1024 * 1024;
/** @internal */
export const SLOW_CLIENT_MS = 60_000;
/** Volatile frames are for clients that keep up. */
const MAX_UNSENT_FOR_VOLATILE = 64 * 1024;
/** After so many stored events everybody else gets a turn, and the client gets to read what there is. */
const EVENTS_PER_TURN = 128;

export interface EventStreamOptions {
  readonly wire: Wire;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly metrics?: Pick<Metrics, 'delivered'>;
  readonly send: (frames: readonly Frame[]) => void;
}

/** Where a client begins. */
export interface Cursor {
  readonly from: number;
  /** At most so many stored events are wanted, the newest. */
  readonly tail?: number | undefined;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #lateOutput: LateOutput;
  readonly #lateAnswer: LateAnswer;
  #open: OpenConversation | undefined;
  /** Waits for a client that is behind. */
  #lateQuestions: NetworkFrame | undefined;
  #nextId = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#lateOutput = createLateOutput(options.wire, MAX_UNSENT_FOR_VOLATILE);
    this.#lateAnswer = new LateAnswer(options.wire, () => this.#open?.conversation.partialAnswer ?? []);
  }

  /** Events with a lower id are behind the cursor. */
  get nextId(): number {
    return this.#nextId;
  }

  /**
   * Sends every event with id ≥ `from`, until the signal aborts; with `tail`, only the last of the stored ones. Rejects with the storage's
   * error.
   */
  async follow(open: OpenConversation, { from, tail }: Cursor, signal: AbortSignal): Promise<void> {
    this.#open = open;
    const { log } = open.conversation;
    const mark = log.nextId;
    const past = new Past(this.#options.dialect);
    const answers = new AnswerReader(log);
    this.#nextId = Math.min(tail === undefined ? from : await this.#skip(open.conversation, from, tail), mark);
    if (from >= mark) {
      this.#announce(open);
      this.#endReplay(mark);
    }
    for await (const stored of log.follow(this.#nextId, { signal })) {
      const event = await answers.fill(stored, 'own-call');
      const phase: Phase = event.id < mark ? 'replay' : 'live';
      this.#options.send(phase === 'live' ? this.#options.dialect.encode(event, phase) : past.next(event));
      if (phase === 'live') this.#options.metrics?.delivered(event.timestamp, this.#options.clock.now());
      if (event.id === mark - 1) {
        this.#options.send(past.end());
        if (!past.hasState) this.#announce(open);
        this.#endReplay(mark);
      }
      this.#nextId = event.id + 1;
      await this.untilTaken(signal);
      if (phase === 'replay' && event.id % EVENTS_PER_TURN === 0) await setImmediate();
    }
  }

  /** ES5. Returns the first id that is sent. */
  async #skip({ log, state }: Conversation, from: number, tail: number): Promise<number> {
    const { wire, dialect } = this.#options;
    const first = firstOfTail(state, tail);
    if (first <= from || !wire.carriesVolatile) return from;
    const pending: Frame[] = [];
    for (const action of state.pending) pending.push(...dialect.encode(await new AnswerReader(log).fill(action, 'own-call'), 'replay'));
    wire.sendVolatile({
      volatile: 'replay',
      phase: 'tail',
      from,
      first_id: first,
      state: {
        next_id: state.nextId,
        agent_state: state.agentState,
        reason: state.reason,
        ...(state.resumesAt !== undefined && { resumes_at: state.resumesAt }),
        pending,
        last_user_message_id: state.lastUserMessageId,
        last_agent_event_id: state.lastAgentEventId,
        ...(state.metrics && { llm_metrics: state.metrics }),
      },
    });
    return first;
  }

  #endReplay(next_id: number): void {
    this.#options.wire.sendVolatile({ volatile: 'replay', phase: 'end', next_id });
  }

  #announce({ conversation }: OpenConversation): void {
    const { dialect, clock } = this.#options;
    this.#options.send(dialect.announce?.(conversation.state.agentState, clock.now().toISOString()) ?? []);
  }

  /** Waits while too much is unsent (ES3). */
  async untilTaken(signal: AbortSignal): Promise<void> {
    const { wire, clock } = this.#options;
    if (wire.unsent.bytes <= MAX_UNSENT_BYTES) return;
    const timeUp = new AbortController();
    const tooSlow = clock.sleep(SLOW_CLIENT_MS, { signal: AbortSignal.any([signal, timeUp.signal]) }).then(
      () => true,
      () => false,
    );
    const isTooSlow = await Promise.race([tooSlow, wire.unsent.drained(MAX_UNSENT_BYTES / 2).then(() => false)]);
    timeUp.abort();
    if (isTooSlow) wire.close('the client does not read');
  }

  /** Sends a volatile frame, unless the client is behind. */
  show(frame: VolatileFrame): void {
    const { wire, dialect } = this.#options;
    // What has gaps is of no use: output waits for a client that is behind, and of an answer the rest is sent when it has caught up.
    if (frame.volatile === 'output' && this.#lateOutput.holds(frame)) return;
    if (frame.volatile === 'delta' && this.#lateAnswer.holds(frame)) return;
    if (frame.volatile === 'network' && this.#holds(frame)) return;
    if (wire.unsent.bytes > MAX_UNSENT_FOR_VOLATILE) return;
    const frames = dialect.encodeVolatile(frame);
    if (frames.length > 0) this.#options.send(frames);
    else if (frame.volatile !== 'status') wire.sendVolatile(frame);
  }

  /** Nothing else brings the questions to a person, and the newest list says all: that one waits for a client that is behind. */
  #holds(frame: NetworkFrame): boolean {
    const { unsent } = this.#options.wire;
    const isWaiting = this.#lateQuestions !== undefined;
    if (!isWaiting && unsent.bytes <= MAX_UNSENT_FOR_VOLATILE) return false;
    this.#lateQuestions = frame;
    if (!isWaiting) void unsent.drained(MAX_UNSENT_FOR_VOLATILE / 2).then(() => this.#showLateQuestions());
    return true;
  }

  #showLateQuestions(): void {
    const frame = this.#lateQuestions!;
    this.#lateQuestions = undefined;
    this.show(frame);
  }
}

/** How much longer a tail may become so that it begins with the user's last message. */
const MAX_LONGER = 4;

/** It begins with the user's last message, where that is not far above: what is shown then says what it is about. */
function firstOfTail({ nextId, lastUserMessageId: message }: ConversationState, tail: number): number {
  const first = nextId - tail;
  return message >= 0 && message < first && message >= nextId - MAX_LONGER * tail ? message : first;
}

/** Output for a client that does not keep up, in order and bounded: the oldest is dropped, and the offsets show the gap. */
interface LateOutput {
  /** True when the frame waits here, and is sent when the client has taken what is under way. */
  holds(frame: OutputFrame): boolean;
}

const MAX_CHARS = 1024 * 1024;

function createLateOutput(wire: Wire, maxUnsentBytes: number): LateOutput {
  const frames: OutputFrame[] = [];
  let chars = 0;

  async function send(): Promise<void> {
    while (frames.length > 0 && !wire.closed.aborted) {
      await wire.unsent.drained(maxUnsentBytes / 2);
      const frame = frames.shift();
      if (!frame) return;
      chars -= frame.text.length;
      wire.sendVolatile(frame);
    }
  }

  return {
    holds(frame) {
      // Another action's output has begun: nobody asks for the rest of the one before.
      if (frames.length > 0 && frames[0]!.cause !== frame.cause) frames.length = chars = 0;
      if (frames.length === 0 && wire.unsent.bytes <= maxUnsentBytes) return false;
      frames.push(frame);
      chars += frame.text.length;
      while (chars > MAX_CHARS && frames.length > 1) chars -= frames.shift()!.text.length;
      if (frames.length === 1) void send();
      return true;
    },
  };
}

/** How far the client has the answer that is being written. While it is behind nothing is sent, and then the rest, one frame for each part. */
class LateAnswer {
  readonly #wire: Wire;
  readonly #partialAnswer: () => readonly DeltaFrame[];
  #turn = -1;
  /** Characters that were sent of each part. */
  #sent = new Map<DeltaFrame['part'], number>();
  #isBehind = false;

  constructor(wire: Wire, partialAnswer: () => readonly DeltaFrame[]) {
    this.#wire = wire;
    this.#partialAnswer = partialAnswer;
  }

  /** True when the frame is not to be sent now. */
  holds({ turn, part, offset, text }: DeltaFrame): boolean {
    if (turn !== this.#turn) this.#sent.clear();
    this.#turn = turn;
    const { unsent } = this.#wire;
    if (!this.#isBehind && unsent.bytes <= MAX_UNSENT_FOR_VOLATILE) {
      this.#sent.set(part, offset + text.length);
      return false;
    }
    // A provider that starts over makes what was sent void.
    this.#sent.set(part, Math.min(this.#sent.get(part) ?? 0, offset));
    if (!this.#isBehind) void unsent.drained(MAX_UNSENT_FOR_VOLATILE / 2).then(() => this.#catchUp());
    this.#isBehind = true;
    return true;
  }

  #catchUp(): void {
    this.#isBehind = false;
    if (this.#wire.closed.aborted) return;
    for (const frame of this.#partialAnswer()) {
      if (frame.turn !== this.#turn) this.#sent.clear();
      this.#turn = frame.turn;
      const offset = this.#sent.get(frame.part) ?? 0;
      this.#sent.set(frame.part, frame.text.length);
      if (frame.text.length > offset) this.#wire.sendVolatile({ ...frame, offset, text: frame.text.slice(offset) });
    }
  }
}
