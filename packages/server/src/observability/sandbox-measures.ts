import type { ExecuteResult, RunnableAction, Runtime, Runtimes } from '@tendon/core';
import { Counter, Histogram, type Instrument } from '../platform/exposition.ts';

/** In seconds. */
const READY_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const ACTION_BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];

/** Counts what runs in sandboxes, how they start, and that they are lost. */
export class SandboxMeasures {
  readonly #actions = new Counter({
    name: 'tendon_actions_total',
    help: 'Actions that were sent to a sandbox, by kind and result: ok, failed, unknown (lost on the way) or not-started',
    labels: ['kind', 'result'],
  });
  readonly #actionSeconds = new Histogram(
    { name: 'tendon_action_seconds', help: 'Time of an action in its sandbox', labels: ['kind'] },
    ACTION_BOUNDS,
  );
  readonly #starts = new Counter({
    name: 'tendon_sandbox_starts_total',
    help: 'Starts of sandboxes, also of hibernated ones: ready, failed or aborted',
    labels: ['result'],
  });
  readonly #ready = new Histogram(
    { name: 'tendon_sandbox_ready_seconds', help: 'Time from a start until the sandbox is ready' },
    READY_BOUNDS,
  );
  readonly #lost = new Counter({
    name: 'tendon_sandboxes_lost_total',
    help: 'Executors that were found dead: killed, crashed, or cut off from this server',
  });
  readonly #wrapped = new WeakMap<Runtime, Runtime>();

  get instruments(): readonly Instrument[] {
    return [this.#actions, this.#actionSeconds, this.#starts, this.#ready, this.#lost];
  }

  /** The sandboxes of one conversation. */
  measured(runtimes: Runtimes): Runtimes {
    let isStarting = false;
    return {
      ...runtimes,
      acquire: async (id, options) => {
        const begun = performance.now();
        // Several callers share a start; the first counts it. A sandbox that is there reports no phase.
        let counts = false;
        const onPhase: typeof options.onPhase = (phase, detail) => {
          if (!isStarting) isStarting = counts = true;
          options.onPhase?.(phase, detail);
        };
        try {
          const runtime = this.#of(await runtimes.acquire(id, { ...options, onPhase }));
          if (counts) this.#started('ready', (performance.now() - begun) / 1000);
          return runtime;
        } catch (error) {
          if (counts) this.#started(options.signal.aborted ? 'aborted' : 'failed');
          throw error;
        } finally {
          if (counts) isStarting = false;
        }
      },
      current: (id) => {
        const runtime = runtimes.current(id);
        return runtime && this.#of(runtime);
      },
    };
  }

  #started(result: 'ready' | 'failed' | 'aborted', seconds?: number): void {
    this.#starts.add({ result });
    if (seconds !== undefined) this.#ready.observe({}, seconds);
  }

  #of(runtime: Runtime): Runtime {
    const known = this.#wrapped.get(runtime);
    if (known) return known;
    void runtime.lost.then(() => this.#lost.add({}));
    const wrapped: Runtime = {
      ...runtime,
      execute: async (action, options) => {
        const begun = performance.now();
        const result = await runtime.execute(action, options);
        this.#executed(action, result, (performance.now() - begun) / 1000);
        return result;
      },
    };
    this.#wrapped.set(runtime, wrapped);
    return wrapped;
  }

  #executed({ action: kind }: RunnableAction, result: ExecuteResult, seconds: number): void {
    this.#actions.add({ kind, result: resultOf(result) });
    this.#actionSeconds.observe({ kind }, seconds);
  }
}

/** A command that exits with another code than 0 has failed, as has whatever an error answers. */
function resultOf(result: ExecuteResult): string {
  if (result.outcome !== 'observed') return result.outcome;
  const { observation } = result;
  if (observation.observation === 'error') return 'failed';
  if (observation.observation === 'run') return observation.extras.metadata.exit_code === 0 ? 'ok' : 'failed';
  return 'ok';
}
