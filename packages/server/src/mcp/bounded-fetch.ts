const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/**
 * `fetch` whose answers hold no message above 8 MiB: a document as a whole, an event stream between two empty lines. Of a failure there
 * is no body: the client library would quote it, and the caller who named the address may not be allowed to read what answers there.
 */
export function boundedFetch(send: typeof fetch): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => bounded(await send(url, init));
}

async function bounded(response: Response): Promise<Response> {
  if (!response.body) return response;
  if (!response.ok) {
    await response.body.cancel();
    const { status, statusText, headers } = response;
    return new Response(null, { status, statusText, headers });
  }
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const end = isStream ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).lastIndexOf('\n\n') : -1;
      size = end < 0 ? size + chunk.length : chunk.length - end;
      if (size > MAX_MESSAGE_BYTES) controller.error(new Error('the answer is larger than 8 MiB'));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counted), response);
}
