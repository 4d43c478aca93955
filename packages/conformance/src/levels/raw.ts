import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Target } from '../target/target.ts';

/** Speaks bytes to the server's port; what it answered until it closed or `ms` passed. */
export async function raw(target: Target, bytes: string, ms: number): Promise<string> {
  const { hostname, port } = new URL(target.server.url);
  const socket = connect(Number(port || 80), hostname);
  target.defer(() => void socket.destroy());
  const answer = Promise.withResolvers<string>();
  let received = '';
  socket.on('data', (data: Buffer) => (received += data.toString('latin1')));
  socket.on('close', () => answer.resolve(received));
  socket.on('error', () => answer.resolve(received));
  socket.setTimeout(ms, () => answer.resolve(received));
  socket.write(bytes, 'latin1');
  return answer.promise;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request to the server's address under another name: what a browser does, without its resolver. */
export async function askAs(
  target: Target,
  host: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(target.server.url);
  const signal = AbortSignal.timeout(target.server.timeoutMs);
  const request = httpRequest({ host: hostname, port: port || 80, path, headers: { host, ...headers }, agent: false, signal });
  request.end();
  const [answer] = (await once(request, 'response', { signal })) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
}
