import { type ComponentType, lazy } from 'react';
import { homeServer } from './server.ts';

const PAUSE_MS = 1_000;

/**
 * A part of the page in a file of its own, as React's `lazy`. While the server is away the file is asked for again: a server that starts
 * again must not take the page with it. A file that a server which answers does not have is an error: the page is of another release.
 */
export function lazyPart<P>(load: () => Promise<{ readonly default: ComponentType<P> }>) {
  return lazy(() => untilLoaded(load));
}

async function untilLoaded<T>(load: () => Promise<T>): Promise<T> {
  let isAnswered = false;
  for (;;) {
    try {
      return await load();
    } catch (cause) {
      if (isAnswered) throw cause;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      isAnswered = await homeServer.options.alive().then(
        () => true,
        () => false,
      );
    }
  }
}
