/** Time as an argument: core reads no clock and sets no timer of its own. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, options: { readonly signal: AbortSignal }): Promise<void>;
}
