/**
 * Sends the devices of a person what is worth a notification in their conversations. Owns no queue: what is due follows from the log and
 * from what the conversation's record says was pushed.
 *
 * PSH1  A conversation is held open until its push was sent or given up. So after a kill its mark is there, the server that goes on with it looks
 *      whether the push is still due, and nothing looks for pushes at any other time.
 * PSH2  Only the server that has the conversation sends its pushes, and it looks again before each attempt.
 * PSH3  What was pushed is stored after it was sent: a server that is killed in between sends it twice, under the same tag and topic, so a
 *      device shows it once.
 * PSH4  Before each attempt the conversation is looked at anew: what is over is not sent.
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, type EventLog, type RecordStore, type Scheduler, StorageError, withLogMethods } from '@tendon/core';
import { isObservation, mayNotify, type Event, type PushMessage } from '@tendon/protocol';
import type { Mask, Secret } from '@tendon/protocol/masking';
import type { PublicDialOptions } from '@tendon/runtime';
import { seesConversation } from '../conversations/conversation-access.ts';
import { rootIdOf, type ConversationRecords, type StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { fewAtATime } from '../conversations/few-at-a-time.ts';
import type { OpenConversation } from '../conversations/open-conversations.ts';
import type { TokenStores } from '../platform/auth/token-stores.ts';
import type { Logger } from '../platform/logger.ts';
import { dueNotice, type DueNotice } from './due-notice.ts';
import type { PushDevices, ReachedDevice } from './push-devices.ts';
import type { SendPush } from './send-push.ts';

const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 2_000;
/** A push service may ask for more; then the next attempt comes early. */
const MAX_WAIT_MS = 120_000;
const AT_ONCE = { atOnce: 8, slowMs: 20_000 };

interface PushParts {
  readonly devices: PushDevices;
  readonly access: Pick<TokenStores, 'users'>;
  readonly mask: Pick<Mask, 'text'>;
  readonly jwtSecret: Secret;
  readonly storage: { readonly records: RecordStore; readonly scheduler: Pick<Scheduler, 'find'> };
}

export interface PushesOptions extends PushParts {
  readonly records: Pick<ConversationRecords, 'get' | 'change'>;
  readonly dialling: PublicDialOptions;
  readonly contact: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One conversation whose push is under way. */
interface RunningPush {
  /** Aborts when something happened since the run last looked. */
  outdated: AbortController;
  readonly over: Promise<void>;
}

export class Pushes {
  readonly #options: PushesOptions;
  readonly #running = new Map<string, RunningPush>();
  readonly #closing = new AbortController();
  #conversations: Conversations | undefined;
  #sending: Promise<SendPush> | undefined;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** Nothing is pushed before. */
  begin(conversations: Conversations): void {
    this.#conversations = conversations;
  }

  /** A log that reports when something may be worth a push. */
  watched(id: string, log: EventLog): EventLog {
    return withLogMethods(log, {
      append: async (drafts, options) => {
        const events = await log.append(drafts, options);
        if (events.some(mayBeWorthOne)) this.look(id);
        return events;
      },
    });
  }

  /** Pushes what is due in the conversation, in the background. */
  look(id: string): void {
    if (this.#closing.signal.aborted) return;
    const running = this.#running.get(id);
    if (running) return running.outdated.abort();
    const { logger } = this.#options;
    const over = this.#run(id)
      .catch((cause: unknown) => {
        const isTaken = cause instanceof StorageError && cause.code === 'fenced'; // another server looks
        if (!isTaken && !this.#closing.signal.aborted) logger.warn({ err: cause, conversation: id }, 'a push could not be sent');
      })
      .finally(() => {
        const isOutdated = this.#running.get(id)!.outdated.signal.aborted;
        this.#running.delete(id);
        if (isOutdated) this.look(id);
      });
    this.#running.set(id, { outdated: new AbortController(), over });
  }

  /** What was not sent is sent by the next server. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#running.values()].map(({ over }) => over));
  }

  async #run(id: string): Promise<void> {
    await setImmediate(); // Until what was appended is folded.
    const record = await this.#options.records.get(id);
    if (!record || (await this.#devicesOf(record)).length === 0) return;
    const held = await this.#conversations?.enter(id);
    if (!held) return;
    try {
      await this.#pushAll(id, held.open);
    } finally {
      held.release();
    }
  }

  async #pushAll(id: string, open: OpenConversation): Promise<void> {
    const { clock, storage, records } = this.#options;
    const signal = AbortSignal.any([this.#closing.signal, open.ended]);
    /** By tag: the devices that have it, and those that cannot. */
    let served = new Set<string>();
    let attempt = 0;
    for (let tag: string | undefined; ;) {
      const run = this.#running.get(id)!;
      run.outdated = new AbortController();
      const record = await records.get(id);
      const due = record && (await this.#due(record, open));
      if (!due || signal.aborted || (await storage.scheduler.find(id)).at === 'peer') return;
      if (due.tag !== tag) [tag, served, attempt] = [due.tag, new Set(), 0];
      const devices = (await this.#devicesOf(record)).filter(({ id: device, since }) => since < due.at && !served.has(device));
      const waitMs = devices.length === 0 ? undefined : await this.#attempt(record, due, devices, served, signal);
      signal.throwIfAborted();
      attempt += 1;
      if (waitMs === undefined || attempt === MAX_ATTEMPTS) {
        await records.change(id, () => ({ pushed: due.pushed }));
        continue;
      }
      const wait = Math.min(Math.max(waitMs, FIRST_WAIT_MS * 2 ** (attempt - 1)), MAX_WAIT_MS);
      await clock.sleep(wait, { signal: AbortSignal.any([signal, run.outdated.signal]) }).catch(() => undefined);
    }
  }

  async #due(record: StoredConversation, open: OpenConversation): Promise<DueNotice | undefined> {
    return dueNotice(record, open.conversation, this.#conversations!.questions.openIn(record));
  }

  /** The wait until some of them are to be tried again; `undefined`: none. */
  async #attempt(
    record: StoredConversation,
    { kind, tag }: DueNotice,
    devices: readonly ReachedDevice[],
    served: Set<string>,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { records, clock, logger, mask, contact, storage, jwtSecret } = this.#options;
    const root = (await records.get(rootIdOf(record))) ?? record;
    const message: PushMessage = { conversation_id: root.id, title: mask.text(root.title), kind, tag };
    const { vapidKey } = await import('./vapid-key.ts');
    const key = await vapidKey(storage.records, jwtSecret);
    const send = await this.#sender();
    const waits: number[] = [];
    const sendTo = async (device: ReachedDevice): Promise<void> => {
      const outcome = await send(device, message, { key, contact, now: clock.now(), signal });
      if (outcome.state === 'later') waits.push((outcome.afterSeconds ?? 0) * 1000);
      else served.add(device.id);
      if (outcome.state === 'gone') await this.#options.devices.remove(device.id);
      if ('reason' in outcome) logger.info({ conversation: record.id, device: device.id, ...outcome }, 'a push was not taken');
    };
    await fewAtATime(devices, (device) => sendTo(device).catch(() => undefined), { ...AT_ONCE, clock, signal });
    return waits.length === 0 ? undefined : Math.max(...waits);
  }

  #sender(): Promise<SendPush> {
    const { dialling } = this.#options;
    this.#sending ??= import('./send-push.ts').then(({ createSendPush }) => createSendPush(dialling));
    return this.#sending;
  }

  /** Of who began the conversation, as long as they see it. */
  async #devicesOf(record: StoredConversation): Promise<readonly ReachedDevice[]> {
    const { devices, access } = this.#options;
    const { created_by: by, organisation_id: organisation } = record;
    if (access.users && by) {
      const member = organisation === undefined ? undefined : access.users.member(by.id, organisation);
      if (!member || !seesConversation({ ...member, keyName: '' }, record)) return [];
    }
    return devices.reached(by?.id);
  }
}

function mayBeWorthOne(event: Event): boolean {
  if (!isObservation(event) || event.observation !== 'agent_state_changed') return false;
  return mayNotify(event.extras.agent_state);
}
