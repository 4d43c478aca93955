/** Lines for the log about the refused places of one sandbox. Whatever it asks for, they are bounded in time. */
export interface RefusalLog {
  write(line: string): void;
}

const LINES_PER_PERIOD = 60;
const PERIOD_MS = 60_000;

/** `now`: milliseconds since some beginning. */
export function createRefusalLog(write: (line: string) => void, now: () => number): RefusalLog {
  let periodEnds = 0;
  let written = 0;
  let leftOut = 0;
  return {
    write(line) {
      if (now() >= periodEnds) {
        periodEnds = now() + PERIOD_MS;
        written = 0;
      }
      if (written === LINES_PER_PERIOD) {
        leftOut += 1;
        return;
      }
      written += 1;
      write(leftOut > 0 ? `${line} (${leftOut} more refused places were not logged before this one)` : line);
      leftOut = 0;
    },
  };
}
