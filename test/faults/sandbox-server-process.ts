import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { lastOf, waitFor } from '@tendon/testing';
import { builtFaults } from '@tendon/testing/servers';

/** `sandbox-server.ts` as a process, to be killed. */
export interface SandboxServer {
  /** The rest of the first line that begins with this word. */
  line(word: string): Promise<string>;
  kill(): Promise<void>;
}

/** All that were started and still run. */
export const servers: ChildProcess[] = [];

export function startServer(args: readonly string[]): SandboxServer {
  const child: ChildProcess = spawn(process.execPath, [builtFaults('sandbox-server'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  servers.push(child);
  const lines: string[] = [];
  let wake = (): void => {};
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  return {
    async line(word) {
      for (;;) {
        const found = lines.find((line) => line.startsWith(word));
        if (found !== undefined) return found.slice(word.length + 1);
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the server ended with ${child.exitCode ?? child.signalCode}`);
        const more = Promise.race([new Promise<void>((resolve) => (wake = resolve)), once(child, 'exit')]);
        await waitFor(more, () => `the line "${word}" of the server; ${lastOf(lines)}`);
      }
    },
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
