import type { Frame } from '../../../target/frames.ts';
import type { Target } from '../../../target/target.ts';
import type { Ready } from '../join.ts';

/** Every event that REST gives, in order. */
export async function logOf(target: Target, { id }: Ready): Promise<readonly Frame[]> {
  const events: Frame[] = [];
  for (;;) {
    const { body } = await target.ask('GET', `/api/conversations/${id}/events?start_id=${Number(events.at(-1)?.id ?? -1) + 1}&limit=100`);
    events.push(...(body.events as unknown as readonly Frame[]));
    if ((body.has_more as unknown) !== true) return events;
  }
}
