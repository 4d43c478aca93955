/** Programs of the user's that run beside the server, as its user: hooks and tools. */
import { spawn, type ChildProcess } from 'node:child_process';

export interface ProgramOptions {
  readonly program: string;
  readonly args: readonly string[];
  /** Where it runs. */
  readonly folder: string;
  /** Beside the few variables that each is given. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Written to its standard input. */
  readonly input: string;
  /** Its standard input stays open for as long as the server lives, and what it answers is read from descriptor 3; default: neither. */
  readonly isAttached?: boolean;
  readonly signal: AbortSignal;
}

/** Its beginning, and whether there was more. */
export interface ProgramOutput {
  readonly text: string;
  readonly isCut: boolean;
}

export type ProgramOutcome =
  | { readonly exitCode: number; readonly stdout: ProgramOutput; readonly stderr: ProgramOutput; readonly answer: ProgramOutput }
  | { readonly failure: string; readonly stderr?: ProgramOutput };

/** What is read of each output; the rest may come, up to a flood. */
const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_ANSWER_BYTES = 8 * 1024 ** 2;
const FLOOD_BYTES = 16 * 1024 ** 2;
/** What a program needs to find others, and nothing of what the server was given: its environment holds keys. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];

export const TOO_MUCH = `it printed more than ${MAX_OUTPUT_BYTES} bytes`;

/** Never rejects, and leaves no process of its group behind. */
export function runProgram({ timeoutMs, input, isAttached = false, signal, ...started }: ProgramOptions): Promise<ProgramOutcome> {
  if (signal.aborted) return Promise.resolve({ failure: 'it was not begun, because the conversation was stopped' });
  const { promise, resolve } = Promise.withResolvers<ProgramOutcome>();
  const child = start(started, isAttached);
  const end = (outcome: ProgramOutcome): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    endGroup(child);
    for (const stream of child.stdio) stream?.destroy();
    resolve(outcome);
  };
  const onAbort = (): void => end({ failure: 'it was ended, because the conversation was stopped' });
  const timer = setTimeout(() => end(ended() ?? { failure: `it took longer than ${timeoutMs / 1000} s` }), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  const onFlood = (): void => end({ failure: TOO_MUCH });
  const stdout = collected(child.stdout, MAX_OUTPUT_BYTES, onFlood);
  const stderr = collected(child.stderr, MAX_OUTPUT_BYTES, onFlood);
  const answer = isAttached ? collected(child.stdio[3] as NodeJS.ReadableStream, MAX_ANSWER_BYTES, onFlood) : NOTHING;
  /** What it has decided, whatever else it printed, or left behind with its output open. */
  const ended = (): ProgramOutcome | undefined => {
    const { exitCode, signalCode } = child;
    if (exitCode !== null) return { exitCode, stdout: stdout(), stderr: stderr(), answer: answer() };
    return signalCode === null ? undefined : { failure: `${signalCode} ended it`, stderr: stderr() };
  };
  // It may end without having read everything.
  child.stdin.on('error', () => undefined);
  if (isAttached) child.stdin.write(input);
  else child.stdin.end(input);
  child.on('error', ({ message }) => end({ failure: `it could not be started: ${message}` }));
  // What it printed may still be on its way, unless something that it left behind has its output open.
  child.on('exit', () => endGroup(child));
  child.on('close', () => end(ended()!));
  return promise;
}

/** A group of its own, so that what it started ends with it. */
function start({ program, args, folder, env }: Pick<ProgramOptions, 'program' | 'args' | 'folder' | 'env'>, isAttached: boolean) {
  const options = { cwd: folder, env: { ...passedOn(), ...env }, detached: true } as const;
  if (!isAttached) return spawn(program, args, { ...options, stdio: 'pipe' });
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  return child as ReturnType<typeof spawn> & { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream };
}

function passedOn(): Record<string, string> {
  return Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

const NOTHING = (): ProgramOutput => ({ text: '', isCut: false });

/** Its beginning: an agent must not silence a hook that quotes its words by writing many. */
function collected(stream: NodeJS.ReadableStream, maxBytes: number, onFlood: () => void): () => ProgramOutput {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    if (length < maxBytes) pieces.push(piece.subarray(0, maxBytes - length));
    length += piece.length;
    if (length > FLOOD_BYTES) onFlood();
  });
  return () => ({ text: Buffer.concat(pieces).toString('utf8'), isCut: length > maxBytes });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}
