/** Ends an executor that nobody needs: without a word from a server for the time granted, and with nothing running. */
export interface Lease {
  /** A request came. */
  touch(): void;
  renew(seconds: number): void;
  close(): void;
}

export function createLease(seconds: number, isBusy: () => boolean, onExpired: () => void): Lease {
  let granted = seconds;
  let timer = arm();

  function arm(): NodeJS.Timeout {
    return setTimeout(() => {
      if (!isBusy()) onExpired();
      else timer = arm();
    }, granted * 1000);
  }
  function touch(): void {
    clearTimeout(timer);
    timer = arm();
  }

  return {
    touch,
    renew(longer) {
      granted = Math.min(longer, 86_400);
      touch();
    },
    close: () => clearTimeout(timer),
  };
}
