import { toJson } from '@tendon/protocol';
import type { Renderer } from './renderer.ts';

/** Every event as a line of JSON, in the spelling of the log; nothing else on the output. */
export function createJsonRenderer(write: (text: string) => void, notify: (text: string) => void): Renderer {
  return {
    begin: () => undefined,
    event: (event) => write(`${JSON.stringify(toJson(event))}\n`),
    frame: () => undefined,
    notice: (text) => notify(`${text}\n`),
    end: () => undefined,
  };
}
