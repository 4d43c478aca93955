/** `since`: when it began, in milliseconds since the epoch. */
export type ConnectionState =
  | { readonly state: 'connecting'; readonly since: number }
  /** `caughtUp`: how many events came that were missed, after a reconnection. */
  | { readonly state: 'connected'; readonly since: number; readonly caughtUp?: number }
  /** Not connected, trying: `attempt` counts from 1. Nothing is lost meanwhile. */
  | { readonly state: 'reconnecting'; readonly since: number; readonly attempt: number }
  /** As `reconnecting`, for longer than a person should read "at once". */
  | { readonly state: 'offline'; readonly since: number; readonly attempt: number }
  /** The server refused; trying again by itself would not help. */
  | { readonly state: 'refused'; readonly since: number; readonly cause: RefusalCause; readonly message: string }
  | { readonly state: 'closed'; readonly since: number };

export type RefusalCause = 'key' | 'unknown-conversation' | 'other';

/** Which refusal the words of a Socket.IO `connect_error` stand for. */
export function refusalCause(message: string, messageId: unknown): RefusalCause {
  if (/session_api_key|unauthori[sz]ed|invalid token/i.test(message) || messageId === 'AUTH$INVALID_KEY') return 'key';
  if (/conversation/i.test(message) && !/access|join/i.test(message)) return 'unknown-conversation';
  return 'other';
}
