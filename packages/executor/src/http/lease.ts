/** Ends an executor that nobody needs: without a word from a server for the time granted, and with nothing running. */
export interface Lease {
  /** Resolves once, when it is over. */
  readonly expired: Promise<void>;
  /** A request came. */
  touch(): void;
  renew(seconds: number): void;
  close(): void;
}

export function createLease(seconds: number, isBusy: () => boolean): Lease {
  const expired = Promise.withResolvers<void>();
  let granted = seconds;
  let timer = arm();

  function arm(): NodeJS.Timeout {
    return setTimeout(() => {
      if (!isBusy()) expired.resolve();
      else timer = arm();
    }, granted * 1000);
  }
  function touch(): void {
    clearTimeout(timer);
    timer = arm();
  }

  return {
    expired: expired.promise,
    touch,
    renew(longer) {
      granted = Math.min(longer, 86_400);
      touch();
    },
    close: () => clearTimeout(timer),
  };
}
