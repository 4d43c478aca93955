import { TestRunner } from 'vitest';

/** Hooks, which have no signal, are given up by the runner after 120 s. */
const HOOK_PATIENCE_MS = 100_000;
const SUPPORT = /test-support|test\/support|node_modules|node:internal/;

/** The same promise. When the test runs out of time before it settles, the failure says where it waited, and what `describe` tells of it. */
export async function patiently<T>(awaited: Promise<T>, describe: () => string): Promise<T> {
  const place = placeOf(new Error());
  const tell = (): string => `It was waiting ${place} for ${describe()}`;
  const late = Promise.withResolvers<never>();
  const signal = TestRunner.getCurrentTest()?.context.signal;
  const timer = signal ? undefined : setTimeout(() => late.reject(new Error(tell())), HOOK_PATIENCE_MS).unref();
  // The reason of a test that took too long is the very error that is reported.
  const onAbort = (): void => void (signal?.reason instanceof Error && amend(signal.reason, tell()));
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([awaited, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The end of what came, short enough for a log. */
export function lastOf(all: readonly unknown[]): string {
  const last = all.slice(-6).map((each) => `\n  ${(JSON.stringify(each) ?? String(each)).slice(0, 400)}`);
  return all.length === 0 ? 'nothing came' : `${all.length} came, at last:${last.join('')}`;
}

function amend(error: Error, more: string): void {
  const { message, stack } = error;
  error.message = `${message}\n${more}`;
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
}

function placeOf({ stack = '' }: Error): string {
  return (
    stack
      .split('\n')
      .slice(1)
      .find((line) => !SUPPORT.test(line))
      ?.trim() ?? ''
  );
}
