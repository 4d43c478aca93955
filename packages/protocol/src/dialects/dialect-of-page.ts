import type { Dialect } from './dialect.ts';
import { openhandsV0Early } from './openhands-v0-early.ts';
import { openhandsV0Late } from './openhands-v0-late.ts';
import { openhandsV0Middle } from './openhands-v0-middle.ts';

/**
 * The dialect of an OpenHands page, by the query of its socket: 0.18 … 0.32 send a conversation and a cursor only, 0.33 … 0.39
 * the providers too, 0.40 and later a key, which may be the word `null`.
 */
export function dialectOfPage(query: Readonly<Record<string, unknown>>): Dialect {
  if (query.providers_set === undefined) return openhandsV0Early;
  return query.session_api_key === undefined ? openhandsV0Middle : openhandsV0Late;
}
