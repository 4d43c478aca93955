import type { Event } from '@tendon/protocol';
import { createRequest } from '../rest/request.ts';
import type { LiveOptions } from './connect.ts';
import type { Gap } from './event-window.ts';
import { readEvent } from './wire-frame.ts';

/** The most that servers of these generations answer at once. */
const PAGE = 100;
const TIMEOUT_MS = 30_000;

interface EventsPage {
  readonly events: readonly (Record<string, unknown> & { readonly id: number })[];
  readonly has_more: boolean;
}

/** The events of the range that the server sends, page by page. Rejects with `ApiError`. */
export async function loadEvents(
  { baseUrl, apiKey, share }: LiveOptions,
  conversationId: string,
  { from, to }: Gap,
): Promise<readonly Event[]> {
  const request = createRequest({ baseUrl: baseUrl(), apiKey, fetch: (...args) => fetch(...args), timeoutMs: TIMEOUT_MS });
  const path = `/api/conversations/${encodeURIComponent(conversationId)}/events`;
  const events: Event[] = [];
  for (let start = from; start < to;) {
    const page = await request<EventsPage>(path, { query: { start_id: start, end_id: to - 1, limit: PAGE, share } });
    events.push(...page.events.map(readEvent));
    const last = page.events.at(-1);
    if (!page.has_more || !last) break;
    start = last.id + 1;
  }
  return events;
}
