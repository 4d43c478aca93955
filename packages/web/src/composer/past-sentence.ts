import type { ConnectionState } from '@tendon/client';
import { elapsed } from '../copy/times.ts';

/** What was last known, put in the past: "Was running npm test, 20 s ago". */
export function pastSentence(sentence: string, connection: ConnectionState, now: number): string {
  if (connection.state === 'connecting') return now - connection.since < 1000 ? '' : 'Connecting';
  return `Was ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}, ${elapsed(now - connection.since)} ago`;
}
