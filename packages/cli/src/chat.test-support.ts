import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { waitFor } from '@tendon/testing';
import { builtTendon } from '@tendon/testing/servers';
import type { Place } from './tendon-child.test-support.ts';

export const PROMPT = '\u001b[1G\u001b[0J> ';
export const DECISION = '\u001b[1G\u001b[0J? ';

/** `tendon` in a terminal of its own. */
export function chat(place: Place, model: string | undefined, args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
  const terminal = spawn(process.execPath, [builtTendon(), ...args], {
    cols: 100,
    rows: 30,
    cwd: place.workspace,
    env: {
      PATH: process.env.PATH,
      HOME: place.home,
      TENDON_HOME: join(place.home, '.tendon'),
      ...(model !== undefined && { LLM_MODEL: model }),
      TERM: 'xterm',
      NO_COLOR: '1',
      ...more,
    },
  });
  let written = '';
  let read = 0;
  let look = (): void => undefined;
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  terminal.onData((text) => {
    written += text;
    look();
  });
  onTestFinished(() => terminal.kill('SIGKILL'));
  return {
    ended,
    pid: terminal.pid,
    /** Everything so far. */
    written: () => written,
    type: (text: string) => terminal.write(text),
    /** Resolves when this text has come after what was waited for before. */
    async until(text: string): Promise<void> {
      const come = new Promise<void>((resolve) => {
        look = () => {
          const at = written.indexOf(text, read);
          if (at < 0) return;
          read = at + text.length;
          resolve();
        };
        look();
      });
      await waitFor(come, () => `"${text}" after ${JSON.stringify(written.slice(read).slice(-3_000))}`);
    },
  };
}
