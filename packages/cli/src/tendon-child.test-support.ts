/** The real command line as a child process, with a home and a workspace of its own. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    await endServers(join(place.home, '.tendon'));
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

/**
 * Ends the servers of a home: those that commands started serve on while an agent works, and one that is starting has not written its
 * address yet, so they are found by their environment.
 */
export async function endServers(home: string): Promise<void> {
  const left = () => serversOf(home);
  for (const pid of left()) process.kill(pid, 'SIGTERM');
  const deadline = AbortSignal.timeout(END_MS);
  while (left().length > 0 && !deadline.aborted) await setTimeout(20);
  for (const pid of left()) process.kill(pid, 'SIGKILL');
}

/** Their process ids. */
export function serversOf(home: string): number[] {
  const isServer = (pid: string) => {
    try {
      const [words, environment] = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0'));
      return words!.includes('serve') && environment!.includes(`TENDON_HOME=${home}`);
    } catch {
      return false; // it has ended
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isServer(name))
    .map(Number);
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
