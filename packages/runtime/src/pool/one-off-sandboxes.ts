import { abortable } from '@tendon/protocol/async';
import { type OneOffSandbox, runInOneOffSandbox } from '../sandbox/one-off-sandbox.ts';
import type { SandboxPorts } from '../sandbox/sandbox-ports.ts';
import { inPhase } from '../sandbox/start-phase.ts';
import { admission } from './shared-start.ts';

/** The way to run programs in a sandbox that belongs to no conversation. */
export type OneOffPrograms = Pick<SandboxPorts, 'openProcess'>;

export interface OneOffOptions {
  /** Aborts the run, whether it is waiting, starting or running. */
  readonly signal: AbortSignal;
}

interface OneOffParts extends Pick<OneOffSandbox, 'context' | 'egress'> {
  /** Resolves when one more sandbox may run. */
  readonly findCapacity: (signal: AbortSignal) => Promise<void>;
}

const PREFIX = 'one-off:';
const LEASE_SECONDS = 120;
const CAPACITY_DEADLINE_MS = 60_000;
/** The operator of an executor host may have configured one folder for all of its sandboxes. */
const NOT_ON_HOSTS = 'a host of sandboxes makes them for conversations alone: none with an empty workspace can be asked for';

/** Runs one sandbox at a time, which ends with its work or with this process. */
export class OneOffSandboxes {
  readonly #sandbox: OneOffSandbox;
  readonly #findCapacity: OneOffParts['findCapacity'];
  readonly #admission = admission(1);
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor({ context, egress, findCapacity }: OneOffParts) {
    this.#sandbox = { context, egress, name: `${PREFIX}${context.places.tag}`, leaseSeconds: LEASE_SECONDS };
    this.#findCapacity = findCapacity;
  }

  /** Whether this sandbox is in use, so that it is not removed as left over. */
  isHeld(name: string): boolean {
    return name === this.#sandbox.name && this.#running.size > 0;
  }

  async run<T>(work: (programs: OneOffPrograms) => Promise<T>, options: OneOffOptions): Promise<T> {
    if (this.#sandbox.context.driver.name === 'remote') throw new Error(NOT_ON_HOSTS);
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const done = this.#admission(() => this.#runNow(work, signal), signal);
    this.#running.add(done);
    const over = (): void => void this.#running.delete(done);
    done.then(over, over);
    return done;
  }

  /** Aborts all runs; resolves when their sandbox is removed. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the server is shutting down'));
    await Promise.allSettled(this.#running);
  }

  #runNow<T>(work: (programs: OneOffPrograms) => Promise<T>, signal: AbortSignal): Promise<T> {
    return runInOneOffSandbox(this.#sandbox, {
      signal,
      work: ({ client }) => abortable(work(client.ports), signal),
      admit: async (start) => {
        await inPhase({ name: 'finding capacity for it', deadlineMs: CAPACITY_DEADLINE_MS, signal }, this.#findCapacity);
        return start();
      },
    });
  }
}
