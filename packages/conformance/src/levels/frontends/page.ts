import assert from 'node:assert/strict';
import type { Answer, Ask, Foreign, Peer, Target } from '../../target/target.ts';
import type { Read } from './reads.ts';

/** A development server on another port of this machine. */
export const ORIGIN = 'http://localhost:3001';
/** How the pages' HTTP client asks. */
const HEADERS = { accept: 'application/json, text/plain, */*', origin: ORIGIN };

/** A page that is open: asks as its scripts do, and breaks when an answer is none. */
export interface Page {
  /** The body of a 200 (or 201); rejects with the call that broke. */
  ask(method: string, path: string, options?: Ask): Promise<Foreign>;
  /** The same, with any status. */
  try(method: string, path: string, options?: Ask): Promise<Answer>;
}

export function openPage(target: Target, more: Readonly<Record<string, string>> = {}): Page {
  const asking = async (method: string, path: string, { headers, ...options }: Ask = {}): Promise<Answer> => {
    const answer = await target.ask(method, path, { ...options, headers: { ...HEADERS, ...more, ...headers } });
    assert.ok(!answer.text.startsWith('<'), `${method} ${path} is answered with a page`);
    return answer;
  };
  return {
    try: asking,
    async ask(method, path, options) {
      const answer = await asking(method, path, options);
      assert.ok([200, 201].includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      return answer.body;
    },
  };
}

/** Every frame so far, taken apart; the failure names the frame. */
export function readAll({ frames }: Peer, read: Read): void {
  for (const frame of frames.all) {
    try {
      read(frame);
    } catch (cause) {
      throw new Error(`${(cause as Error).message}, in ${JSON.stringify(frame).slice(0, 400)}`, { cause });
    }
  }
}

export function listOf(value: unknown, what: string): readonly Foreign[] {
  assert.ok(Array.isArray(value), `${what} is no list: ${JSON.stringify(value)?.slice(0, 200)}`);
  return value as readonly Foreign[];
}

/** A form with one file, as the pages send it. */
export function upload(name: string, text: string): FormData {
  const form = new FormData();
  form.append('files', new Blob([text]), name);
  return form;
}
