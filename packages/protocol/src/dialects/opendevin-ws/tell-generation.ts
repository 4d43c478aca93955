import { isObject } from '../decode-frame.ts';

export type WsGeneration = 'W0' | 'W1' | 'W2' | 'W3' | 'W4' | 'W5';

/**
 * How a client came in. `plain`: without a token, which W0 and W4 do. `auth`: with a token from `/api/auth`, W1 to W3.
 * `resumed`: with a token of an earlier socket, W4. `protocol`: with the three values of `Sec-WebSocket-Protocol`, W5.
 */
export type WsDoor = 'plain' | 'auth' | 'resumed' | 'protocol';

/** The four settings of the browser that every `initialize` of 18 April 2024 to 0.7 carries, and nothing else. */
const BROWSER_SETTINGS = new Set(['LLM_MODEL', 'AGENT', 'LANGUAGE', 'LLM_API_KEY']);

/** The generation that this frame gives away; `undefined` when clients of several send it. Total. */
export function tellGeneration(door: WsDoor, frame: unknown): WsGeneration | undefined {
  if (door === 'protocol') return 'W5';
  if (!isObject(frame)) return undefined;
  switch (frame.action) {
    case 'initialize':
      return fromInitialize(door, isObject(frame.args) ? Object.keys(frame.args) : []);
    case 'start':
      return door === 'auth' ? 'W2' : door === 'plain' ? 'W0' : undefined;
    case 'chat':
      return door === 'plain' ? 'W0' : undefined;
    case 'user_message':
    case 'change_task_state':
      return 'W2';
    case 'message':
    case 'change_agent_state':
      return door === 'auth' ? 'W3' : 'W4';
    default:
      return undefined;
  }
}

function fromInitialize(door: Exclude<WsDoor, 'protocol'>, keys: readonly string[]): WsGeneration | undefined {
  const names = keys.filter((key) => /^[A-Z][A-Z_]+$/.test(key));
  // 0.3 sends its whole configuration; of later ones W2 and W3 send the same four.
  if (door === 'auth') return names.some((name) => !BROWSER_SETTINGS.has(name)) ? 'W1' : undefined;
  if (names.length === 0) return door === 'plain' ? 'W0' : undefined;
  return names.some((name) => !BROWSER_SETTINGS.has(name)) ? 'W4' : 'W3';
}
