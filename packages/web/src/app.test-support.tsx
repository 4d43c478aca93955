/** The whole app in a DOM without layout, on the server of made-up conversations. A test file opens it once. */
import console from 'node:console';
import { join } from 'node:path';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, configure, render, waitFor } from '@testing-library/react';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type * as routes from './app/routes.tsx';

interface Fixture {
  readonly url: string;
  close(): Promise<void>;
}
type StartFixture = (options?: { eventsOf?: (id: string) => readonly object[] }) => Promise<Fixture>;

/** How many apps this worker has loaded. */
let apps = 0;

/** Shows the page at a path. */
export type Open = (path: string) => Promise<void>;

export function appOnFixture(): Open {
  let fixture: Fixture;
  let Pages: typeof routes.Pages;
  const { error } = console;
  // A deadline, not a measurement: the first page of a worker is compiled while it is waited for.
  configure({ asyncUtilTimeout: 45_000 });
  beforeAll(async () => {
    console.error = (...printed) => void (isGivenUp(printed[0]) || error(...printed));
    const { startFixture } = (await import(join(import.meta.dirname, '../dev/fixture-server.mjs'))) as { startFixture: StartFixture };
    fixture = await startFixture();
    // The app asks the server of its page and listens to its window: it is loaded only now, and anew for each file of a worker.
    (window as unknown as { happyDOM: { setURL(url: string): void } }).happyDOM.setURL(fixture.url);
    // There is no layout: what scrolls has the height of a window.
    Object.defineProperty(HTMLElement.prototype, 'clientHeight', { get: () => 900, configurable: true });
    ({ Pages } = (await import(join(import.meta.dirname, `app/routes.tsx?app=${++apps}`))) as typeof routes);
  });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  afterEach(async () => {
    await waitFor(() => expect(queries.isFetching()).toBe(0));
    cleanup();
    queries.clear();
  });
  afterAll(() => {
    console.error = error;
    return fixture.close();
  });
  return async (path) => {
    localStorage.clear();
    history.replaceState(null, '', path);
    await act(async () => {
      render(
        <QueryClientProvider client={queries}>
          <Pages />
        </QueryClientProvider>,
      );
    });
  };
}

/** The DOM prints an error for each request that the app gives up because it asks anew, to the console of the process. */
function isGivenUp(printed: unknown): boolean {
  return printed instanceof Error && printed.message === 'socket hang up';
}
