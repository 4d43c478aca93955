/** A server process that dies at the n-th border it crosses: what it had begun goes on in the world, it itself never sees another answer. */
import type { LlmProvider } from '../llm/llm-provider.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Runtime, Runtimes } from '../sandbox/runtime.ts';

export interface Mortal {
  readonly log: EventLog;
  readonly provider: LlmProvider;
  readonly runtimes: Runtimes;
  readonly died: Promise<void>;
}

/** `dieAt` counts from 1; every call to the outside is crossed twice, once before it and once with its answer. */
export function mortal(
  world: { readonly log: EventLog; readonly provider: LlmProvider; readonly runtimes: Runtimes },
  dieAt: number,
): Mortal {
  const died = Promise.withResolvers<void>();
  let crossed = 0;
  const never = new Promise<never>(() => {});

  async function cross(): Promise<void> {
    if (crossed >= dieAt) await never;
    if (++crossed < dieAt) return;
    died.resolve();
    await never;
  }
  async function call<T>(outside: () => Promise<T>): Promise<T> {
    await cross();
    const answer = await outside();
    await cross();
    return answer;
  }

  const { log, provider, runtimes } = world;
  const wrapRuntime = (runtime: Runtime): Runtime => ({
    ...runtime,
    execute: (action, options) => call(() => runtime.execute(action, { ...options, signal: unheard(options.signal) })),
  });
  /** The dead do not cancel. */
  const unheard = (signal: AbortSignal): AbortSignal => {
    const heard = new AbortController();
    signal.addEventListener('abort', () => crossed < dieAt && heard.abort(), { once: true });
    return heard.signal;
  };
  return {
    died: died.promise,
    log: {
      conversationId: log.conversationId,
      get nextId() {
        return log.nextId;
      },
      append: (drafts, options) => call(() => log.append(drafts, options)),
      read: (range) => call(() => log.read(range)),
      epochOf: (id) => log.epochOf(id),
      follow: (from, options) => log.follow(from, options),
      snapshot: () => call(() => log.snapshot()),
      storeSnapshot: (snapshot) => call(() => log.storeSnapshot(snapshot)),
    },
    provider: {
      ...provider,
      async *stream(request, options) {
        for await (const event of provider.stream(request, options)) {
          await cross();
          yield event;
        }
      },
    },
    runtimes: {
      acquire: (id, options) => call(async () => wrapRuntime(await runtimes.acquire(id, options))),
      current(id) {
        const runtime = runtimes.current(id);
        return runtime && wrapRuntime(runtime);
      },
      stop: (id) => runtimes.stop(id),
    },
  };
}
