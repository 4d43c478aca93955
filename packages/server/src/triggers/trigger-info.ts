/** Triggers and deliveries as clients see them, without the secret and the task. */
import type { DeliveryInfo, TriggerInfo } from '@tendon/protocol';
import type { StoredDelivery } from './delivery-store.ts';
import { nextOf } from './schedules.ts';
import type { StoredTrigger } from './trigger-store.ts';

export function triggerInfo({ sealed, handled_until: _until, ...trigger }: StoredTrigger): TriggerInfo {
  const next = nextOf({ ...trigger, sealed, handled_until: _until });
  return { ...trigger, next_at: next?.toISOString() ?? null, path: sealed === null ? null : `/api/triggers/${trigger.id}/webhook` };
}

export function deliveryInfo(delivery: StoredDelivery): DeliveryInfo {
  const { id, name, received_at, state, detail, conversation_id, agent_state, comment_url } = delivery;
  return { id, name, received_at, state, detail, conversation_id, agent_state, comment_url };
}
