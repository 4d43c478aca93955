/** One request to a push service (RFC 8030). Loaded when the first push is sent. */
import { createHash } from 'node:crypto';
import type { NoticeKind, PushMessage } from '@tendon/protocol';
import { createPublicDial, type PublicDialOptions } from '@tendon/runtime';
import { fetchBy } from '../conversations/network/fetch-by.ts';
import { encryptedFor, MAX_MESSAGE_BYTES } from './push-encryption.ts';
import type { ReachedDevice } from './push-devices.ts';
import { vapidHeader, type VapidKey } from './vapid-key.ts';

/** `gone`: the device has unsubscribed. `later`: the service could not take it now. `refused`: it never will. */
export type PushOutcome =
  | { readonly state: 'sent' | 'gone' }
  | { readonly state: 'later'; readonly reason: string; readonly afterSeconds: number | undefined }
  | { readonly state: 'refused'; readonly reason: string };

export interface SendOptions {
  readonly key: VapidKey;
  /** Whom the push service may write to. Default: the address of this server. */
  readonly contact: string | undefined;
  readonly now: Date;
  readonly signal: AbortSignal;
}

const ANSWER_MS = 15_000;
/** How long a push service keeps what a device that is off has not fetched. */
const TTL_SECONDS = 86_400;
/** These wait for a person, and may wake a device; the others wait until it is in use. */
const URGENT: ReadonlySet<NoticeKind> = new Set<NoticeKind>(['decision', 'question', 'network']);
const MAX_TITLE = 200;

export type SendPush = (device: ReachedDevice, message: PushMessage, options: SendOptions) => Promise<PushOutcome>;

/** Public addresses alone are asked, whatever a name is made to mean, and no redirect is followed. */
export function createSendPush(options: PublicDialOptions): SendPush {
  const send = fetchBy(createPublicDial(options));
  return async (device, message, { key, contact, now, signal }) => {
    const { endpoint, origin } = device;
    const request = {
      method: 'POST',
      headers: {
        authorization: vapidHeader(key, { endpoint, contact: contact ?? contactAt(origin), now }),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(TTL_SECONDS),
        urgency: URGENT.has(message.kind) ? 'high' : 'normal',
        topic: topicOf(message.conversation_id),
      },
      body: new Uint8Array(encryptedFor(device.keys, textOf(message))),
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    };
    try {
      const answer = await send(endpoint, request);
      await answer.body?.cancel();
      return outcomeOf(answer);
    } catch (cause) {
      signal.throwIfAborted();
      const { cause: inner = cause } = cause as Error;
      const reason = (inner as Error).message;
      return (inner as Error).name === 'AddressRefused'
        ? { state: 'refused', reason }
        : { state: 'later', reason, afterSeconds: undefined };
    }
  };
}

function outcomeOf({ status, ok, headers }: Response): PushOutcome {
  if (ok) return { state: 'sent' };
  if (status === 404 || status === 410) return { state: 'gone' };
  const reason = `the push service answered with the status ${status}`;
  if (status !== 429 && status < 500) return { state: 'refused', reason };
  const after = headers.get('retry-after') ?? '';
  return { state: 'later', reason, afterSeconds: /^\d{1,9}$/.test(after) ? Number(after) : undefined };
}

/** Apple takes no token without a contact; the operator of an https address can be found by it. */
function contactAt(origin: string): string {
  return origin.startsWith('https:') ? origin : 'mailto:tendon@localhost';
}

/** A newer push of a conversation replaces one that was not fetched. The service learns no id of ours. */
function topicOf(conversationId: string): string {
  return createHash('sha256').update(`push topic ${conversationId}`).digest('base64url').slice(0, 32);
}

function textOf({ title, ...message }: PushMessage): string {
  const text = (shown: string): string => JSON.stringify({ ...message, title: shown });
  const short = text(title.slice(0, MAX_TITLE));
  return Buffer.byteLength(short) <= MAX_MESSAGE_BYTES ? short : text('');
}
