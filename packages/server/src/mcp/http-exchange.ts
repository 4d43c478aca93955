import { STATELESS_VERSION, type Exchange } from './stateless-connection.ts';

export interface HttpExchangeOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bounds what comes. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** Requests without a handshake over HTTP: each is a POST of its own, answered by a document or by a stream. */
export function httpExchange({ url, headers: own, fetch }: HttpExchangeOptions): Exchange {
  return async ({ headers, ...request }, { signal, onNotification = () => undefined }) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...own,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': STATELESS_VERSION,
        'mcp-method': request.method,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...request }),
      signal,
    });
    if (!response.ok || !response.body) throw new Error(`it answered with the status ${response.status}`);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    return isStream ? answerIn(response.body, request.id, onNotification) : response.json();
  };
}

/** Notifications come before it; nothing is read after it. */
async function answerIn(body: ReadableStream<Uint8Array>, id: string, onNotification: (message: object) => void): Promise<unknown> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const events = (rest + piece).replaceAll('\r\n', '\n').split('\n\n');
    rest = events.pop()!;
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
      const message: unknown = data.length > 0 ? JSON.parse(data.join('\n')) : undefined;
      if (typeof message !== 'object' || message === null) continue;
      if ('id' in message && message.id === id) return message;
      onNotification(message);
    }
  }
  return undefined;
}
