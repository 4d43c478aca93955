import { isObject } from '../decode-frame.ts';

export type WsGeneration =
  | 'opendevin-2024-03'
  | 'opendevin-2024-04'
  | 'opendevin-2024-05'
  | 'opendevin-2024-06'
  | 'opendevin-2024-07'
  | 'opendevin-2024-11';

/**
 * How a client came in. `plain`: without a token, which opendevin-2024-03 and opendevin-2024-07 do. `auth`: with a token from `/api/auth`, opendevin-2024-04 to opendevin-2024-06.
 * `resumed`: with a token of an earlier socket, opendevin-2024-07. `protocol`: with the three values of `Sec-WebSocket-Protocol`, opendevin-2024-11.
 */
export type WsEntry = 'plain' | 'auth' | 'resumed' | 'protocol';

/** The four settings of the browser that every `initialize` of 18 April 2024 to 0.7 carries, and nothing else. */
const BROWSER_SETTINGS = new Set(['LLM_MODEL', 'AGENT', 'LANGUAGE', 'LLM_API_KEY']);

/** The generation that this frame gives away; `undefined` when clients of several send it. Total. */
export function detectGeneration(entry: WsEntry, frame: unknown): WsGeneration | undefined {
  if (entry === 'protocol') return 'opendevin-2024-11';
  if (!isObject(frame)) return undefined;
  switch (frame.action) {
    case 'initialize':
      return fromInitialize(entry, isObject(frame.args) ? Object.keys(frame.args) : []);
    case 'start':
      return entry === 'auth' ? 'opendevin-2024-05' : entry === 'plain' ? 'opendevin-2024-03' : undefined;
    case 'chat':
      return entry === 'plain' ? 'opendevin-2024-03' : undefined;
    case 'user_message':
    case 'change_task_state':
      return 'opendevin-2024-05';
    case 'message':
    case 'change_agent_state':
      return entry === 'auth' ? 'opendevin-2024-06' : 'opendevin-2024-07';
    default:
      return undefined;
  }
}

function fromInitialize(entry: Exclude<WsEntry, 'protocol'>, keys: readonly string[]): WsGeneration | undefined {
  const names = keys.filter((key) => /^[A-Z][A-Z_]+$/.test(key));
  // 0.3 sends its whole configuration; of later ones opendevin-2024-05 and opendevin-2024-06 send the same four.
  if (entry === 'auth') return names.some((name) => !BROWSER_SETTINGS.has(name)) ? 'opendevin-2024-04' : undefined;
  if (names.length === 0) return entry === 'plain' ? 'opendevin-2024-03' : undefined;
  return names.some((name) => !BROWSER_SETTINGS.has(name)) ? 'opendevin-2024-07' : 'opendevin-2024-06';
}
