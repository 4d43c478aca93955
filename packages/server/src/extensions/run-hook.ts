import { spawn, type ChildProcess } from 'node:child_process';
import type { ConfiguredHook } from './hook-file.ts';

/** What is read of each output; the rest may come, up to a flood. */
const MAX_OUTPUT_BYTES = 64 * 1024;
const FLOOD_BYTES = 16 * 1024 ** 2;
/** The exit code of a hook that blocks. */
export const BLOCKED = 2;
/** What a program needs to find others, and nothing of what the server was given: its environment holds keys. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];

export type HookOutcome = { readonly exitCode: number; readonly stdout: string; readonly stderr: string } | { readonly failure: string };

const TOO_MUCH: HookOutcome = { failure: `it printed more than ${MAX_OUTPUT_BYTES} bytes` };

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
  const timer = setTimeout(() => end(ended() ?? { failure: `it took longer than ${timeoutMs / 1000} s` }), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  const onFlood = (): void => end(TOO_MUCH);
  const stdout = collected(child.stdout, onFlood);
  const stderr = collected(child.stderr, onFlood);
  /** What it has decided, whatever else it printed, or left behind with its output open. */
  const ended = (): HookOutcome | undefined => {
    const { exitCode, signalCode } = child;
    if (exitCode === null) return signalCode === null ? undefined : { failure: `${signalCode} ended it` };
    if (stdout.isCut() && exitCode !== BLOCKED) return TOO_MUCH;
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
  };
  // It may end without having read everything.
  child.stdin.on('error', () => undefined).end(input);
  child.on('error', ({ message }) => end({ failure: `it could not be started: ${message}` }));
  // What it printed may still be on its way, unless something that it left behind has its output open.
  child.on('exit', () => endGroup(child));
  child.on('close', () => end(ended()!));
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

/** Its beginning: an agent must not silence a hook that quotes its words by writing many. */
function collected(stream: NodeJS.ReadableStream, onFlood: () => void): { readonly text: () => string; readonly isCut: () => boolean } {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    if (length < MAX_OUTPUT_BYTES) pieces.push(piece.subarray(0, MAX_OUTPUT_BYTES - length));
    length += piece.length;
    if (length > FLOOD_BYTES) onFlood();
  });
  return { text: () => Buffer.concat(pieces).toString('utf8'), isCut: () => length > MAX_OUTPUT_BYTES };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}
