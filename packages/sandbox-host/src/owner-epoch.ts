import type { IncomingHttpHeaders } from 'node:http';
import { OWNER_EPOCH_HEADER } from '@tendon/protocol/executor-api';

/** 0 where none is sent, as by a server that shares its conversations with no other. Throws for what is no epoch. */
export function ownerEpochOf(headers: IncomingHttpHeaders): number {
  const given = headers[OWNER_EPOCH_HEADER];
  if (given === undefined) return 0;
  const epoch = /^[1-9]\d{0,15}$/.test(String(given)) ? Number(given) : 0;
  if (Number.isSafeInteger(epoch) && epoch > 0) return epoch;
  throw Object.assign(new Error(`${OWNER_EPOCH_HEADER} must be a positive integer`), { statusCode: 400 });
}

/** Why one with this epoch changes nothing any more; `undefined` when there is no later owner. 0: nobody else can have the conversation. */
export function earlierOwner({ owner_epoch: greatest = 0 }: { readonly owner_epoch?: number }, epoch: number): string | undefined {
  if (epoch === 0 || epoch >= greatest) return undefined;
  return `another server has taken the conversation over (its epoch is ${greatest}, not ${epoch}): nothing was changed`;
}
