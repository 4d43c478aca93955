import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Mutex } from '@tendon/protocol/async';
import type { PythonKind } from '@tendon/protocol/executor-api';
import type { PackageSource } from '../egress/package-proxy.ts';
import { messageOf } from '../sandbox/start-phase.ts';

/**
 * `ipykernel` for Pythons that have none, once for all sandboxes that see the same folder. Owns the downloads.
 *
 * KPA1  The content of a folder is complete: it is made in another folder and moved there.
 * KPA2  It is made in a sandbox that never had anything of a user, and is mounted read-only.
 * KPA3  Callers that need the same packages share one installation; one runs at a time.
 */
export interface KernelPackages extends PackageSource {
  /** Gives up what is being made; resolves when nothing of it runs. */
  close(): Promise<void>;
}

/** Makes `target`; rejects with what can be shown. */
export type MakePackages = (kind: PythonKind, target: string, options: MakeOptions) => Promise<void>;

export interface MakeOptions {
  readonly signal: AbortSignal;
  readonly output: (text: string) => void;
}

interface Work {
  readonly done: Promise<string | undefined>;
  readonly listeners: Set<(text: string) => void>;
  printed: string;
}

/** What failed is not tried again at once, however often it is asked for. */
const FAILURE_HOLDS_MS = 60_000;
const MAX_SAID = 10_000;

export function createKernelPackages(make: MakePackages): KernelPackages {
  const works = new Map<string, Work>();
  const failures = new Map<string, { readonly reason: string; readonly at: number }>();
  const closing = new AbortController();
  const making = new Mutex();

  function begin(kind: PythonKind, target: string): Work {
    const listeners = new Set<(text: string) => void>();
    const output = (text: string): void => {
      work.printed = (work.printed + text).slice(-MAX_SAID);
      for (const listener of listeners) listener(text);
    };
    const run = async (): Promise<string | undefined> => {
      try {
        closing.signal.throwIfAborted();
        await make(kind, target, { signal: closing.signal, output });
        return undefined;
      } catch (error) {
        const reason = messageOf(error);
        failures.set(target, { reason, at: performance.now() });
        return reason;
      } finally {
        works.delete(target);
      }
    };
    const work: Work = { done: making.run(run), listeners, printed: '' };
    works.set(target, work);
    return work;
  }

  return {
    async provide(folder, kind, output) {
      const target = join(folder, kind.tag);
      if (existsSync(target)) return undefined;
      const failed = failures.get(target);
      if (failed !== undefined && performance.now() - failed.at < FAILURE_HOLDS_MS) return failed.reason;
      const work = works.get(target) ?? begin(kind, target);
      if (work.printed !== '') output(work.printed);
      work.listeners.add(output);
      try {
        return await work.done;
      } finally {
        work.listeners.delete(output);
      }
    },
    async close() {
      closing.abort(new Error('the server is shutting down'));
      await making.run(() => {});
    },
  };
}
