import { createLane, type Lane } from './lane.ts';

/** Tasks of one key run one after the other, in the order given; those of different keys do not wait for each other. */
export type SerialQueues = <T>(key: string, task: () => Promise<T> | T) => Promise<T>;

/** A key without tasks costs nothing. */
export function createSerialQueues(): SerialQueues {
  const queues = new Map<string, { readonly lane: Lane; tasks: number }>();
  return (key, task) => {
    const queue = queues.get(key) ?? { lane: createLane(), tasks: 0 };
    queues.set(key, queue);
    queue.tasks += 1;
    return queue.lane(task).finally(() => {
      if (--queue.tasks === 0) queues.delete(key);
    });
  };
}
