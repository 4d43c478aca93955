import type { ObservationDraft } from '@tendon/protocol';
import { readLines } from '@tendon/protocol/node';
import type { HostLine } from '@tendon/protocol/executor-api';
import type { BrowserHost, HostOrder } from './browser-host.ts';

/** One browser. Owns its host and, through it, Chromium; knows nothing of actions. */
export interface BrowserProcess {
  readonly ready: Promise<{ readonly note?: string }>;
  /** With how it ended; never rejects. */
  readonly ended: Promise<string>;
  readonly hasEnded: boolean;
  ask(order: HostOrder, options: AskOptions): Promise<ObservationDraft>;
  /** Lets it save its cookies first. */
  stop(): void;
  /** Ends it with everything below it, at once. */
  kill(): void;
}

export interface AskOptions {
  readonly withTree: boolean;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly output: (text: string) => void;
  /** Called when the host has the order; one that ended before executed nothing. */
  readonly onTaken: () => void;
}

const LIMITS = { maxLine: 15 * 1024 * 1024, maxTotal: Number.MAX_SAFE_INTEGER };
const STOP_MS = 20_000;
/** Its last lines are read first; a child may hold its pipe open. */
const LAST_WORDS_MS = 200;

export function startBrowserProcess(host: BrowserHost): BrowserProcess {
  const ready = Promise.withResolvers<{ readonly note?: string }>();
  ready.promise.catch(() => {}); // handled where it is awaited
  const asked = new Map<number, Pick<AskOptions, 'output' | 'onTaken'> & { readonly resolve: (observation: ObservationDraft) => void }>();
  let hasEnded = false;
  let reportedEnd: string | undefined;
  let ids = 0;

  function take(line: HostLine): void {
    if (line.type === 'ready') ready.resolve(line);
    else if (line.type === 'failed') ready.reject(new Error(line.reason));
    else if (line.type === 'taken') asked.get(line.id)?.onTaken();
    else if (line.type === 'output') asked.get(line.id)?.output(String(line.text));
    else if (line.type === 'done') asked.get(line.id)?.resolve(line.observation);
    else if (line.type === 'ended') reportedEnd = String(line.how);
  }

  const reading = readHost(host, take).catch(() => host.kill());
  const ended = host.ended.then(async (how) => {
    await Promise.race([reading, new Promise((late) => setTimeout(late, LAST_WORDS_MS))]);
    hasEnded = true;
    const reason = reportedEnd ?? how;
    ready.reject(new Error(`its host ended: ${reason}`));
    return reason;
  });

  function send(value: object): void {
    host.input.write(`${JSON.stringify(value)}\n`);
  }

  return {
    ready: ready.promise,
    ended,
    get hasEnded() {
      return hasEnded || host.hasEnded;
    },
    async ask(order, { withTree, deadlineMs, signal, output, onTaken }) {
      const id = ids++;
      const { promise, resolve } = Promise.withResolvers<ObservationDraft>();
      asked.set(id, { resolve, output, onTaken });
      const cancel = (): void => send({ type: 'cancel', id });
      signal.addEventListener('abort', cancel, { once: true });
      send({ id, withTree, deadlineMs, ...order });
      if (signal.aborted) cancel();
      return promise.finally(() => {
        asked.delete(id);
        signal.removeEventListener('abort', cancel);
      });
    },
    stop() {
      host.input.end();
      const timer = setTimeout(host.kill, STOP_MS);
      void ended.then(() => clearTimeout(timer));
    },
    kill: host.kill,
  };
}

async function readHost({ output }: BrowserHost, take: (line: HostLine) => void): Promise<void> {
  for await (const text of readLines(output, LIMITS)) if (text !== '') take(JSON.parse(text) as HostLine);
}
