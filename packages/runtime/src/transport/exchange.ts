import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/**
 * Hands the body of `request` on with `outgoing`, and the answer back, as they come; when either side goes, the other is let go. `begin`
 * writes the head of the answer, or returns false when it has answered in words of its own. Resolves when the answer has begun;
 * rejects when there is none.
 */
export function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  outgoing: ClientRequest,
  begin: (answer: IncomingMessage) => boolean,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasBegun = false;
  // For as long as the request lives: head and a broken body may be parsed in one go, before an awaited head is seen.
  outgoing.on('error', (error) => (hasBegun ? void response.destroy() : reject(error)));
  outgoing.once('response', (answer) => {
    hasBegun = true;
    answer.on('error', () => response.destroy());
    try {
      if (begin(answer)) answer.pipe(response);
      resolve();
    } catch (error) {
      reject(error);
    }
  });
  response.once('close', () => outgoing.destroy());
  request.pipe(outgoing);
  return promise;
}

/** Only the headers of these names, which are in lower case. */
export function picked({ headers }: IncomingMessage, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
