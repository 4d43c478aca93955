import type { Clock, Runtime } from '@tendon/core';
import type { SandboxPorts } from './sandbox-ports.ts';

/** Whether somebody uses a sandbox, and since when nobody does. */
export interface SandboxUse {
  /** Somebody is about to. */
  touch(): void;
  /** Whether something runs in it. */
  isUsed(): boolean;
  /** Milliseconds without use; 0 while it is used. */
  idleMs(): number;
  /** How often it has been used; nobody has come in between while it is the same. */
  count(): number;
}

export interface CountedUse {
  readonly runtime: Runtime;
  readonly ports: SandboxPorts;
  readonly use: SandboxUse;
}

/** The same runtime and ports, counted. */
export function countUse(runtime: Runtime, ports: SandboxPorts, clock: Clock): CountedUse {
  let uses = 0;
  let running = 0;
  let usedAt = clock.now().getTime();
  const touch = (): void => {
    uses += 1;
    usedAt = clock.now().getTime();
  };

  async function during<T>(work: Promise<T>): Promise<T> {
    running += 1;
    touch();
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
    ports: {
      ...ports,
      connect: (...args) => during(ports.connect(...args)),
      startPlugin: (...args) => during(ports.startPlugin(...args)),
    },
    use: {
      touch,
      isUsed: () => running > 0,
      idleMs: () => (running > 0 ? 0 : Math.max(0, clock.now().getTime() - usedAt)),
      count: () => uses,
    },
  };
}
