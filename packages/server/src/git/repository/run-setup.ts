import { randomInt } from 'node:crypto';
import type { ExecuteResult, RunnableAction, Runtime, SourcedDraft } from '@tendon/core';
import { ErrorObservation, RunAction } from '@tendon/protocol';

const SETUP_SECONDS = 600;
/** Read and not run: what it exports stays. Its mode is left alone, for that would be a change of the repository's. */
const COMMAND = 'source .openhands/setup.sh';
/** Ids of events never get there. */
const [FIRST_ID, LAST_ID] = [2 ** 40, 2 ** 47];

interface InSession {
  readonly now: Date;
  readonly timeoutSeconds: number;
}

/** Runs a command in the agent's shell, before the agent has it: what it exports and where it goes stays. */
export function runInSession(runtime: Runtime, command: string, { now, timeoutSeconds }: InSession): Promise<ExecuteResult> {
  const action: RunnableAction = {
    ...RunAction.create({ command }),
    id: randomInt(FIRST_ID, LAST_ID),
    timestamp: now.toISOString(),
    source: 'environment',
    timeout: timeoutSeconds,
    executor: runtime.incarnation,
  };
  return runtime.execute(action, { signal: AbortSignal.timeout((timeoutSeconds + 30) * 1000), isFresh: true });
}

/** Runs `.openhands/setup.sh` and gives the events that tell of it: they are appended together, so nothing is half told. */
export async function setupEvents(runtime: Runtime, now: Date): Promise<(firstId: number) => readonly SourcedDraft[]> {
  const result = await runInSession(runtime, COMMAND, { now, timeoutSeconds: SETUP_SECONDS });
  const action: SourcedDraft = { source: 'environment', ...RunAction.create({ command: COMMAND }), timeout: SETUP_SECONDS };
  return (firstId) => [action, { source: 'environment', ...observationOf(result), cause: firstId }];
}

function observationOf(result: ExecuteResult) {
  if (result.outcome === 'observed') return result.observation;
  return ErrorObservation.create(`.openhands/setup.sh did not run to its end: ${result.reason}`, { error_id: 'STATUS$ERROR_SETUP' });
}
