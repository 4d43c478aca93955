import { spawn, type ChildProcess } from 'node:child_process';
import type { ConfiguredHook } from './hook-file.ts';

const MAX_OUTPUT_BYTES = 64 * 1024;
/** What a program needs to find others, and nothing of what the server was given: its environment holds keys. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];

export type HookOutcome = { readonly exitCode: number; readonly stdout: string; readonly stderr: string } | { readonly failure: string };

/** Runs it as the server's user, with `input` on its standard input. Never rejects, and leaves no process of its group behind. */
export function runHook(
  { command, folder, env, timeoutMs }: ConfiguredHook,
  input: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<HookOutcome> {
  if (signal.aborted) return Promise.resolve({ failure: 'it was not begun, because the conversation was stopped' });
  const { promise, resolve } = Promise.withResolvers<HookOutcome>();
  // A group of its own, so that what it started ends with it.
  const child = spawn('/bin/sh', ['-c', command], { cwd: folder, env: { ...passedOn(), ...env }, detached: true, stdio: 'pipe' });
  const end = (outcome: HookOutcome): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    endGroup(child);
    for (const stream of child.stdio) stream?.destroy();
    resolve(outcome);
  };
  const onAbort = (): void => end({ failure: 'it was ended, because the conversation was stopped' });
  const timer = setTimeout(() => end({ failure: `it took longer than ${timeoutMs / 1000} s` }), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  const tooMuch = (): void => end({ failure: `it printed more than ${MAX_OUTPUT_BYTES} bytes` });
  const stdout = collected(child.stdout, tooMuch);
  const stderr = collected(child.stderr, tooMuch);
  // It may end without having read everything.
  child.stdin.on('error', () => undefined).end(input);
  child.on('error', ({ message }) => end({ failure: `it could not be started: ${message}` }));
  child.on('exit', (code, killedBy) => {
    // What it printed may still be on its way, unless something that it left behind has its output open.
    endGroup(child);
    child.on('close', () =>
      end(code === null ? { failure: `${killedBy} ended it` } : { exitCode: code, stdout: stdout(), stderr: stderr() }),
    );
  });
  return promise;
}

function passedOn(): Record<string, string> {
  return Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function collected(stream: NodeJS.ReadableStream, tooMuch: () => void): () => string {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > MAX_OUTPUT_BYTES) return tooMuch();
    pieces.push(piece);
  });
  return () => Buffer.concat(pieces).toString('utf8');
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}
