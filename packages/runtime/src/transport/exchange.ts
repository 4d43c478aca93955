import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/**
 * Hands the body of `request` on with `outgoing`, and the answer back, as they come; when either side goes, the other is let go. `begin`
 * writes the head of the answer, or returns false when it has answered in words of its own. Resolves when the answer has begun;
 * rejects when there is none.
 */
export async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  outgoing: ClientRequest,
  begin: (answer: IncomingMessage) => boolean,
): Promise<void> {
  response.once('close', () => outgoing.destroy());
  request.pipe(outgoing);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  outgoing.on('error', () => response.destroy());
  if (!begin(answer)) return;
  answer.on('error', () => response.destroy());
  answer.pipe(response);
}

/** Only the headers of these names, which are in lower case. */
export function picked({ headers }: IncomingMessage, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
