import type { Clock, Runtime } from '@tendon/core';

/** Whether somebody uses a sandbox, and since when nobody does. */
export interface SandboxUse {
  /** Somebody is about to. */
  touch(): void;
  /** Milliseconds without use; 0 while it is used. */
  idleMs(): number;
}

/** The same runtime, counted. */
export function countUse(runtime: Runtime, clock: Clock): { readonly runtime: Runtime; readonly use: SandboxUse } {
  let running = 0;
  let usedAt = clock.now().getTime();
  const touch = (): void => void (usedAt = clock.now().getTime());

  async function during<T>(work: Promise<T>): Promise<T> {
    running += 1;
    try {
      return await work;
    } finally {
      running -= 1;
      touch();
    }
  }

  const { files } = runtime;
  return {
    runtime: {
      ...runtime,
      execute: (...args) => during(runtime.execute(...args)),
      output: (...args) => during(runtime.output(...args)),
      files: {
        list: (...args) => during(files.list(...args)),
        read: (...args) => during(files.read(...args)),
        write: (...args) => during(files.write(...args)),
        linesToEdit: (...args) => during(files.linesToEdit(...args)),
      },
    },
    use: { touch, idleMs: () => (running > 0 ? 0 : Math.max(0, clock.now().getTime() - usedAt)) },
  };
}
