import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { never, run } from '@tendon/runtime/testing';
import { testServer, type TestOptions, type TestServer } from '../../packages/server/src/server.test-support.ts';

const PROGRAM = readFileSync(join(import.meta.dirname, 'preview-program.py'));

/** A conversation in a real sandbox with the program in it, and the preview as a browser that followed the link sees it. */
export interface Preview {
  readonly server: TestServer;
  readonly id: string;
  readonly port: number;
  /** As web-hosts offers it. */
  readonly link: URL;
  /** The token, as the browser keeps it. */
  readonly cookie: string;
  get(path: string, headers?: Readonly<Record<string, string>>, options?: Ask): Promise<Answer>;
  inside(command: string): Promise<string>;
}

export interface Ask {
  readonly method?: string;
  readonly body?: Buffer | readonly Buffer[];
  readonly host?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request to the server's address under another name: what a browser does, without its resolver. */
export async function ask(
  server: TestServer,
  host: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  { method, body }: Ask = {},
): Promise<Answer> {
  const answer = await open(server, host, path, headers, { ...(method && { method }), ...(body && { body }) });
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
}

export async function open(
  server: TestServer,
  host: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  { method = 'GET', body }: Ask = {},
): Promise<IncomingMessage> {
  const { port } = new URL(server.url);
  const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: { host, ...headers }, agent: false });
  for (const piece of body === undefined ? [] : Buffer.isBuffer(body) ? [] : body) request.write(piece);
  request.end(Buffer.isBuffer(body) ? body : undefined);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

/** On a server of its own. Default: with the driver local. */
export async function preview(options: TestOptions = {}): Promise<Preview> {
  const server = await testServer({ ...options, env: { RUNTIME: 'local', ...options.env } });
  const api = { ...(options.sessionApiKey && { 'x-session-api-key': options.sessionApiKey }) };
  const created = (await (await server.post('/api/conversations', {}, api)).json()) as { conversation_id: string };
  const id = created.conversation_id;
  const runtime = await server.engine.runtimes.acquire(id, { signal: never });
  onTestFinished(() => server.engine.runtimes.stop(id));
  await runtime.files.write('/tmp/program.py', PROGRAM, { signal: never });
  const inside = async (command: string): Promise<string> => (await run(runtime, command)).output;
  await inside(
    'rm -f /tmp/port; (setsid python3 /tmp/program.py /tmp/port >/dev/null 2>&1 &); until test -s /tmp/port; do sleep 0.05; done',
  );
  const port = Number(await inside('cat /tmp/port'));
  const { hosts } = (await (await server.get(`/api/conversations/${id}/web-hosts`, api)).json()) as { hosts: Record<string, number> };
  const link = new URL(Object.keys(hosts).find((url) => hosts[url] === port)!);
  const entered = await ask(server, link.host, link.pathname, {});
  const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
  const get: Preview['get'] = (path, headers = {}, how = {}) => ask(server, how.host ?? link.host, path, { cookie, ...headers }, how);
  return { server, id, port, link, cookie, get, inside };
}
