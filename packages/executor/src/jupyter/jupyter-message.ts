import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

/** A message of the Jupyter protocol 5.x as far as we look at it; `content` comes from the agent's process and may be anything. */
export interface JupyterMessage {
  readonly type: string;
  /** Id of the request that this belongs to; empty without one. */
  readonly parentId: string;
  readonly content: Readonly<Record<string, unknown>>;
  /** The content was too long and was dropped unread. */
  readonly isDropped: boolean;
}

const DELIMITER = Buffer.from('<IDS|MSG>');
const SIGNED_FRAMES = 4;

/** Frames of a request on the shell channel, and its id. */
export function encodeRequest(type: string, content: object, key: string): { readonly id: string; readonly frames: readonly Buffer[] } {
  const id = randomUUID();
  const header = {
    msg_id: id,
    msg_type: type,
    username: 'tendon',
    session: key.slice(0, 8),
    date: new Date().toISOString(),
    version: '5.3',
  };
  const parts = [header, {}, {}, content].map((part) => Buffer.from(JSON.stringify(part)));
  return { id, frames: [DELIMITER, Buffer.from(sign(parts, key)), ...parts] };
}

/** Nothing for what is malformed or not signed with the key. */
export function decodeMessage(frames: readonly Buffer[], key: string): JupyterMessage | undefined {
  const at = frames.findIndex((frame) => frame.equals(DELIMITER));
  const [signature, ...parts] = frames.slice(at + 1, at + 2 + SIGNED_FRAMES);
  if (at < 0 || signature === undefined || parts.length < SIGNED_FRAMES) return undefined;
  const isDropped = parts[3]!.length === 0; // no JSON is empty
  if (!isDropped && !isEqual(signature, Buffer.from(sign(parts, key)))) return undefined;
  const [header, parent, , content] = parts.map(parseObject);
  if (typeof header?.msg_type !== 'string') return undefined;
  const parentId = typeof parent?.msg_id === 'string' ? parent.msg_id : '';
  return { type: header.msg_type, parentId, content: content ?? {}, isDropped };
}

function sign(parts: readonly Buffer[], key: string): string {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
