import type { IncomingMessage } from 'node:http';
import { EventFilter } from '@tendon/protocol';

const MAX_BYTES = 64 * 1024;

/** A filter in the body of a GET, which fastify does not read; nothing when there is no body. Rejects with zod's error, or a SyntaxError. */
export async function filterInBody(request: IncomingMessage): Promise<EventFilter> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > MAX_BYTES) throw new SyntaxError('the filter is too long');
  }
  if (text.trim() === '') return {};
  const body = JSON.parse(text) as unknown;
  const filter = typeof body === 'object' && body !== null && 'filter' in body ? (body as { filter: unknown }).filter : body;
  return EventFilter.parse(filter ?? {});
}
