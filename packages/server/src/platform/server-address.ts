import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failureText } from '@tendon/protocol';
import { z } from 'zod';
import type { Config } from './config/config.ts';

/** Where the server of a home listens: for other programs of the same user. It may be that of one that was killed. */
const Address = z.object({ url: z.url({ protocol: /^http$/ }), pid: z.number().int() });

export async function keepAddress(home: string, url: string): Promise<void> {
  await writeFile(pathIn(home), JSON.stringify({ url, pid: process.pid }), { mode: 0o600 });
}

/** Only our own: the next server may have written its address already. */
export async function forgetAddress(home: string): Promise<void> {
  const stored = await readAddress(home);
  if (stored?.pid === process.pid) await rm(pathIn(home), { force: true });
}

export interface FoundServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The server that serves this home now, with the headers that it expects of a caller. */
export async function findServer({ home, sessionApiKey }: Pick<Config, 'home' | 'sessionApiKey'>): Promise<FoundServer | undefined> {
  const address = await readAddress(home);
  if (address === undefined || !isRunning(address.pid)) return undefined;
  const made = await readFile(join(home, 'session-api-key'), 'utf8').catch(() => '');
  const key = sessionApiKey?.reveal() ?? made.trim();
  return { url: address.url, headers: key === '' ? {} : { 'X-Session-API-Key': key } };
}

async function readAddress(home: string): Promise<z.output<typeof Address> | undefined> {
  try {
    return Address.parse(JSON.parse(await readFile(pathIn(home), 'utf8')));
  } catch {
    return undefined; // none, or not one
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function pathIn(home: string): string {
  return join(home, 'server.json');
}

type RequestParts = [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: {
    readonly body?: object | undefined;
    readonly deadlineMs: number;
    /** For `askForBody`: what a 404 means, in words. Default: what the server says. */
    readonly notFound?: string;
  },
];

export interface ServerAnswer {
  readonly status: number;
  readonly ok: boolean;
  /** `{}` where the answer is no JSON. */
  readonly body: { readonly message?: unknown };
}

/** One request of a command to the server that runs on its home. Rejects with an Error whose message can be shown when it does not answer. */
export async function askServer(
  { url, headers }: FoundServer,
  ...[method, path, { body, deadlineMs }]: RequestParts
): Promise<ServerAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(deadlineMs),
  }).catch((cause: unknown) => {
    throw new Error(`The server at ${url} does not answer.`, { cause });
  });
  const answer = (await response.json().catch(() => ({}))) as ServerAnswer['body'];
  return { status: response.status, ok: response.ok, body: answer };
}

/** The body of its answer. Rejects with an Error whose message can be shown where it refuses, too. */
export async function askForBody(server: FoundServer, ...request: RequestParts): Promise<unknown> {
  const { status, ok, body } = await askServer(server, ...request);
  const { notFound } = request[2];
  if (status === 404 && notFound !== undefined) throw new Error(notFound);
  if (status === 401) throw new Error(`The server at ${server.url} wants a key: set SESSION_API_KEY.`);
  if (!ok) throw new Error(failureText(body) ?? `The server answered ${status}.`);
  return body;
}
