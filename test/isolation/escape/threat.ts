import type { DriverName } from '@tendon/runtime';

/** One line of the table of threats. */
export interface Threat {
  readonly id: string;
  /** What a hostile command tries. */
  readonly threat: string;
  /**
   * Python, run as the agent would run it. Each attempt says a line: `held …` or `ESCAPED …` (attempt.py). It holds where every
   * line says so, there is one, the program came to its end, nothing of the bait is in what it printed, and the host is as it was.
   */
  readonly probe: string;
  /** Drivers that do not hold it, with the reason. There the probe must get out, or the table is out of date. */
  readonly notHeld?: Readonly<Partial<Record<Exclude<DriverName, 'none'>, string>>>;
  /** It may end its own shell: only the host and the next action count then. */
  readonly isRough?: true;
  /**
   * Harmless also without a sandbox, where it must get out: so a probe that can see nothing is found. Not for what a namespace of
   * processes holds, which commands have without a sandbox too.
   */
  readonly isControl?: true;
  /** It takes what it can and holds it (`hold()` of attempt.py) until the sandbox beside it has got some of everything. */
  readonly takes?: true;
}
