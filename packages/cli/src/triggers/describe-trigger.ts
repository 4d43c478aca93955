import type { CreatedTrigger, DeliveryInfo, TriggerInfo } from '@tendon/protocol';
import { aligned } from '../terminal/aligned.ts';
import { printable } from '../terminal/printable.ts';

const NAME_CHARS = 30;
const DETAIL_CHARS = 100;

/** For people, one line each. */
export function triggerTable(triggers: readonly TriggerInfo[]): string {
  if (triggers.length === 0) return 'There are no triggers.';
  const rows = triggers.map((trigger) => [
    trigger.id,
    trigger.kind,
    onLine(trigger.name, NAME_CHARS),
    trigger.enabled ? 'on' : 'paused',
    onLine(firesBy(trigger), DETAIL_CHARS),
  ]);
  return aligned([['ID', 'KIND', 'NAME', 'STATE', 'FIRES'], ...rows]);
}

/** Newest first. */
export function deliveryTable(deliveries: readonly DeliveryInfo[]): string {
  if (deliveries.length === 0) return 'Nothing was delivered to it.';
  const rows = deliveries.map(({ received_at: at, state, name, conversation_id: conversation, comment_url: comment, ...delivery }) => [
    at,
    state,
    onLine(name, NAME_CHARS),
    conversation ?? '-',
    onLine(delivery.detail ?? comment ?? delivery.agent_state ?? '-', DETAIL_CHARS),
  ]);
  return aligned([['RECEIVED', 'STATE', 'NAME', 'CONVERSATION', 'RESULT'], ...rows]);
}

/** The only time that its secret is shown. */
export function describeAdded({ id, path, secret, next_at: next }: CreatedTrigger, url: string): string {
  const lines = [['id', id]];
  if (next !== null) lines.push(['next', next]);
  if (path !== null) lines.push(['address', url + path]);
  if (secret !== null) lines.push(['secret', secret], ['', 'It is shown this once: give it to who calls the address.']);
  return aligned(lines);
}

function firesBy({ schedule, mention, repository, next_at: next, path }: TriggerInfo): string {
  if (schedule) return `${schedule.cron} ${schedule.time_zone}${next === null ? '' : `, next ${next}`}`;
  if (!mention) return path ?? '-';
  const words = [mention.phrase, mention.label === null ? null : `label ${mention.label}`].filter((word) => word !== null);
  return `${words.join(' or ')}${repository === null ? '' : ` in ${repository}`}`;
}

function onLine(text: string, chars: number): string {
  const line = printable(text).replaceAll(/\s+/g, ' ');
  return line.length > chars ? `${line.slice(0, chars - 1)}…` : line;
}
