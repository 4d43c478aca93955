/** Runs tasks one after the other, in the order given; a failed one does not stop the next. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as the task does. */
  run<T>(task: () => Promise<T> | T): Promise<T> {
    const result = this.#last.then(task, task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
