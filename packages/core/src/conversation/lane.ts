/** Tasks that are given to a lane run one after the other, in the order given; a failed one does not stop the next. */
export type Lane = <T>(task: () => Promise<T> | T) => Promise<T>;

export function createLane(): Lane {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(task: () => Promise<T> | T): Promise<T> => {
    const result = last.then(task, task);
    last = result.catch(() => undefined);
    return result;
  };
}
