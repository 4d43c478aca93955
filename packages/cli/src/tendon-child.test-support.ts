/** The real command line as a child process, with a home and a workspace of its own. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { waitFor } from '@tendon/testing';
import { builtTendon } from '@tendon/testing/servers';

export interface Place {
  readonly home: string;
  readonly workspace: string;
  /** Names a model that plays these steps. */
  script(steps: readonly object[]): string;
}

export interface TendonChild {
  readonly pid: number;
  /** Everything it wrote so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when it has written the text; rejects when it ends before. */
  until(text: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Nobody reads its standard output any longer. */
  closeOutput(): void;
  /** The same of its standard error. */
  closeErrors(): void;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

export function makePlace(): Place {
  const root = mkdtempSync(join(tmpdir(), 'tendon-cli-'));
  const place = { home: join(root, 'home'), workspace: join(root, 'work') };
  onTestFinished(async () => {
    await endServer(join(place.home, '.tendon'));
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });
  mkdirSync(place.workspace);
  return {
    ...place,
    script(steps) {
      const path = join(root, 'script.json');
      writeFileSync(path, JSON.stringify(steps));
      return `scripted/${path}`;
    },
  };
}

/** One that a command started, and that serves on while its agent works: nobody could find it without its home. */
async function endServer(home: string): Promise<void> {
  const path = join(home, 'server.json');
  if (!existsSync(path)) return;
  const { pid } = JSON.parse(readFileSync(path, 'utf8')) as { readonly pid: number };
  const isThere = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  if (!isThere()) return;
  process.kill(pid, 'SIGTERM');
  const deadline = AbortSignal.timeout(END_MS);
  while (isThere() && !deadline.aborted) await setTimeout(20);
  if (isThere()) process.kill(pid, 'SIGKILL');
}

const END_MS = 10_000;

export interface TendonOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Written to its standard input. */
  readonly input?: string;
}

export function startTendon(
  place: Place,
  args: readonly string[],
  { env = {}, cwd = place.workspace, input = '' }: TendonOptions = {},
): TendonChild {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(process.execPath, [builtTendon(), ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: place.home, TENDON_HOME: join(place.home, '.tendon'), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  }) as never;
  (child.stdin as unknown as NodeJS.WritableStream).end(input);
  const written = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => (code ?? signal) as number | NodeJS.Signals);
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    pid: child.pid!,
    ended,
    get stdout() {
      return written.stdout;
    },
    get stderr() {
      return written.stderr;
    },
    async until(text) {
      const isThere = () => written.stdout.includes(text) || written.stderr.includes(text);
      while (!isThere()) {
        const more = [child.stdout, child.stderr].map((stream) => once(stream, 'data').then(() => false));
        const next = Promise.race([...more, ended.then(() => true)]);
        const isOver = await waitFor(next, () => `"${text}" of:\n${written.stdout.slice(-2000)}\n${written.stderr.slice(-2000)}`);
        if (isOver && !isThere()) throw new Error(`it ended without "${text}":\n${written.stdout}\n${written.stderr}`);
      }
    },
    signal: (name) => void child.kill(name),
    closeOutput: () => void child.stdout.destroy(),
    closeErrors: () => void child.stderr.destroy(),
  };
}

/** Runs it to its end. */
export async function tendon(place: Place, args: readonly string[], options?: TendonOptions) {
  const child = startTendon(place, args, options);
  const code = await waitFor(
    child.ended,
    () => `the end of ${args.join(' ')}, which wrote:\n${child.stdout.slice(-2000)}\n${child.stderr.slice(-2000)}`,
  );
  return { code, stdout: child.stdout, stderr: child.stderr };
}

/** Processes of this machine whose command line holds the text. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(text));
}
