/** More than any answer needs: a thousand tokens take about a quarter of a megabyte of frames. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * `send` for an endpoint that is not trusted: it follows no redirect, which would take the key along in a header of the provider's own,
 * and a body longer than `maxBytes` breaks off with an error.
 */
export function guardedFetch(send: typeof fetch, maxBytes = MAX_ANSWER_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    const { status, statusText, headers } = response;
    return new Response(response.body && response.body.pipeThrough(counter(maxBytes)), { status, statusText, headers });
  };
}

function counter(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`the answer is longer than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
