import { Mutex } from '@tendon/protocol/async';

/** A mutex for each key: tasks of one key run one after the other, in the order given. A key without tasks takes no memory. */
export class KeyedMutex {
  readonly #keys = new Map<string, { readonly mutex: Mutex; tasks: number }>();

  run<T>(key: string, task: () => Promise<T> | T): Promise<T> {
    const entry = this.#keys.get(key) ?? { mutex: new Mutex(), tasks: 0 };
    this.#keys.set(key, entry);
    entry.tasks += 1;
    return entry.mutex.run(task).finally(() => {
      if (--entry.tasks === 0) this.#keys.delete(key);
    });
  }
}
