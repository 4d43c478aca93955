import { TestRunner } from 'vitest';

/** Vitest does not report where a hook waited when its time ran out: a wait in a hook that takes this long is printed. */
const LONG_MS = 100_000;
const SUPPORT = /test-support|packages\/testing\/|node_modules|node:internal/;

/** The same promise. When the test runs out of time before it settles, the failure names where it waited, and `describe` names for what. */
export async function waitFor<T>(awaited: Promise<T>, describe: () => string): Promise<T> {
  const place = placeOf(new Error());
  const report = (): string => `It was waiting ${place} for ${describe()}`;
  const signal = TestRunner.getCurrentTest()?.context.signal;
  const timer = signal ? undefined : setTimeout(() => process.stderr.write(`${report()}\n`), LONG_MS).unref();
  // The reason of a test that took too long is the very error that is reported.
  const onAbort = (): void => void (signal?.reason instanceof Error && amend(signal.reason, report()));
  signal?.addEventListener('abort', onAbort);
  try {
    return await awaited;
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
