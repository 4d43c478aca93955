/** How much is forgiven before an action's outcome is called unknown. */
export interface Patience {
  /** Breaks of one action's stream without news in between. */
  readonly breaks: number;
  /** An executor that does not answer is asked again for so long, while an action that may have reached it has no outcome. */
  readonly sentMs: number;
  /** The same for an action that cannot have reached it. */
  readonly unsentMs: number;
}

/** On one machine a connection that breaks means that its other end is gone. */
export const ON_THIS_HOST: Patience = { breaks: 5, sentMs: 0, unsentMs: 0 };

/** A network comes and goes, and so does the program that stands before the sandboxes of another host. */
export const OVER_A_NETWORK: Patience = { breaks: 50, sentMs: 120_000, unsentMs: 15_000 };
