/** The program that loads one file of a tool and asks it what it is, or calls it: each time in a process of its own. */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { runProgram } from './run-program.ts';

/**
 * It reads one line of JSON and answers on descriptor 3; what the tool prints is not its answer. Where its standard input ends, the server
 * has gone, and a shell beside it ends the group: the tool itself may wait for a program, or calculate, without ever looking.
 */
const PROGRAM = `
import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
const MAX_CHARS = 1_000_000;
const pieces = [];
while (pieces.at(-1)?.at(-1) !== 10) {
  const piece = Buffer.alloc(65_536);
  const length = readSync(0, piece);
  if (length === 0) process.exit();
  pieces.push(piece.subarray(0, length));
}
const request = JSON.parse(Buffer.concat(pieces).toString());
spawn('/bin/sh', ['-c', 'read -r _; kill -9 0'], { stdio: [0, 'ignore', 'ignore'] }).unref();
// The lowest number that is free: what the tool does with its input does not reach the shell.
closeSync(0);
openSync('/dev/null');
const words = (error) => (error instanceof Error ? error.message || error.name : String(error)).slice(0, 4_000);
const place = (error) => /^(.*:\\d+)\\n/.exec(error?.stack ?? '')?.[1] ?? '';
const text = (value) => {
  const whole = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (whole.length <= MAX_CHARS) return whole;
  return whole.slice(0, MAX_CHARS) + '\\n[the rest of ' + whole.length + ' characters was left out]';
};
const answer = (value) => new Socket({ fd: 3 }).end(JSON.stringify(value), () => process.exit());
try {
  const loaded = await import(pathToFileURL(request.file).href);
  const { run, ...definition } = loaded.default ?? loaded.tool ?? {};
  if (request.context === undefined) answer({ definition: { ...definition, run: typeof run } });
  else answer({ text: text(await run.call(loaded.default ?? loaded.tool, request.args, request.context)) });
} catch (error) {
  answer({ error: words(error), place: place(error) });
}
`;

/** Loading a file may take so long. */
const LOAD_MS = 20_000;
const MAX_STDERR = 2_000;

export interface ToolFile {
  readonly path: string;
  /** Beside the few variables that each program of the user's is given. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a tool is given beside its arguments. */
export interface ToolContext {
  readonly conversationId: string;
  /** The folder that the agent works in; nothing where that is on another machine. */
  readonly workspace?: string;
  /** The stored secrets that it has asked for, by their names. */
  readonly secrets: Readonly<Record<string, string>>;
}

const Answer = z.union([
  z.object({ definition: z.unknown() }),
  z.object({ text: z.string() }),
  z.object({ error: z.string(), place: z.string() }),
]);

type Failure = { readonly failure: string };

/** What the file exports, as it is. Never rejects. */
export async function loadTool(file: ToolFile): Promise<{ readonly definition: unknown } | Failure> {
  const answer = await ask(file, {}, { timeoutMs: LOAD_MS, signal: new AbortController().signal });
  if ('definition' in answer) return answer;
  return 'failure' in answer ? answer : { failure: 'it cannot be understood' };
}

export interface ToolCall {
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  readonly timeoutMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Never rejects. `hasAnswered`: the tool itself failed; otherwise nobody knows how far it came. */
export async function callTool(
  file: ToolFile,
  { args, context, ...limits }: ToolCall,
): Promise<{ readonly text: string } | (Failure & { readonly hasAnswered?: true })> {
  const answer = await ask(file, { args, context }, limits);
  if ('definition' in answer) return { failure: 'its answer cannot be understood' };
  return answer;
}

type Asked = { readonly definition: unknown } | { readonly text: string } | (Failure & { readonly hasAnswered?: true });

async function ask({ path, env }: ToolFile, request: object, limits: Pick<ToolCall, 'timeoutMs' | 'signal'>): Promise<Asked> {
  const outcome = await runProgram({
    program: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--input-type=module', '-e', PROGRAM],
    folder: dirname(path),
    env,
    input: `${JSON.stringify({ file: path, ...request })}\n`,
    isAttached: true,
    ...limits,
  });
  const printed = outcome.stderr?.text.trim() ?? '';
  const tail = printed === '' ? '' : `. It printed: ${printed.slice(-MAX_STDERR)}`;
  if ('failure' in outcome) return { failure: outcome.failure + tail };
  const answer = Answer.safeParse(parsed(outcome.answer.text)).data;
  if (!answer) return { failure: `it ended without a result, with exit code ${outcome.exitCode}${tail}` };
  if (!('error' in answer)) return answer;
  return { failure: `${answer.error}${placeIn(answer.place, path)}`, hasAnswered: true };
}

/** Of an error in the file itself. */
function placeIn(place: string, path: string): string {
  const line = /:(\d+)$/.exec(place)?.[1];
  return line !== undefined && place.includes(basename(path)) ? ` (line ${line})` : '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
