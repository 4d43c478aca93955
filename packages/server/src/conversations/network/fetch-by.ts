import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { dialOrigin, type Dial } from '@tendon/runtime';

/** Of an answer that has none, `Response` takes none. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A `fetch` over connections of `dial`: what may not be dialled is not asked. It follows no redirect, holds no connection and takes no
 * compressed answer.
 */
export function fetchBy(dial: Dial): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: 'manual' });
    try {
      return await answerTo(request, dial);
    } catch (cause) {
      if (request.signal.aborted) throw request.signal.reason;
      throw new TypeError('fetch failed', { cause });
    }
  };
}

async function answerTo(request: Request, dial: Dial): Promise<Response> {
  const url = new URL(request.url);
  if (!/^https?:$/.test(url.protocol)) throw new Error(`${url.protocol} is not spoken here`);
  const body = Buffer.from(await request.arrayBuffer());
  const socket = await dialOrigin(url, dial, request.signal);
  const outgoing = httpRequest({
    method: request.method,
    path: url.pathname + url.search,
    headers: {
      ...Object.fromEntries(request.headers),
      host: url.host,
      connection: 'close',
      ...(body.length > 0 && { 'content-length': body.length }),
    },
    createConnection: () => socket,
    signal: request.signal,
  });
  // Head and a broken body may be parsed in one go: the listener for errors must be there when the head has come.
  outgoing.once('response', (incoming) => outgoing.on('error', (cause) => incoming.destroy(cause)));
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) for (const value of values) headers.append(name, value);
  const { statusCode: status = 502, statusMessage: statusText = '' } = incoming;
  if (WITHOUT_BODY.has(status)) {
    incoming.resume();
    return new Response(null, { status, statusText, headers });
  }
  return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, { status, statusText, headers });
}
