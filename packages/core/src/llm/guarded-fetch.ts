/** More than any answer needs: a thousand tokens take about a quarter of a megabyte of frames. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** A success that is a page for people: the address is not that of an API. */
export class WebPageAnswer extends Error {
  constructor(url: string) {
    super(`${url} answered with a web page. Check LLM_BASE_URL or the base URL in the settings: for most servers it ends in /v1.`);
  }
}

/**
 * `send` for an endpoint that is not trusted: it follows no redirect, which would take the key along in a header of the provider's own,
 * and a body longer than `maxBytes` breaks off with an error. Rejects with `WebPageAnswer` when a success is HTML.
 */
export function guardedFetch(send: typeof fetch, maxBytes = MAX_ANSWER_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    const { status, statusText, headers } = response;
    if (response.ok && /^text\/html\b/i.test(headers.get('content-type') ?? '')) {
      await response.body?.cancel();
      throw new WebPageAnswer(withoutQuery(input));
    }
    return new Response(response.body && counted(response.body, maxBytes), { status, statusText, headers });
  };
}

/** Keys can stand in a query. */
function withoutQuery(input: Parameters<typeof fetch>[0]): string {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
  return origin + pathname;
}

/** The same bytes, counted as they are read: a transform in between would cost each answer another queue. */
function counted(body: ReadableStream<Uint8Array<ArrayBuffer>>, maxBytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.byteLength;
        if (bytes <= maxBytes) return controller.enqueue(value);
        const tooLong = new Error(`the answer is longer than ${maxBytes} bytes`);
        controller.error(tooLong);
        await reader.cancel(tooLong);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read before somebody asks for it.
    { highWaterMark: 0 },
  );
}
