import { randomInt } from 'node:crypto';
import type { RunnableAction, Runtime } from '@tendon/core';
import { RunAction } from '@tendon/protocol';

export interface CommandOptions {
  /** A folder inside the sandbox. */
  readonly cwd: string;
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
  readonly now: Date;
  /** Ends it before its time. */
  readonly signal?: AbortSignal;
  /** Called with each piece of output, beyond `maxBytes` too. */
  readonly onText?: (text: string) => void;
}

export interface CommandOutput {
  /** As it was printed, cut at `maxBytes`. */
  readonly text: string;
  readonly isCut: boolean;
  /** −1: its time was up. */
  readonly exitCode: number;
}

/** Ids of events never get there: what runs for the server is in no log. */
const [FIRST_ID, LAST_ID] = [2 ** 40, 2 ** 47];

/**
 * Runs a script for the server itself, beside the agent's shell and in no log. What it prints is untrusted: the agent owns the folder and the
 * programs. Rejects with a user-facing error when the sandbox could not run it.
 */
export async function runSandboxCommand(runtime: Runtime, command: string, options: CommandOptions): Promise<CommandOutput> {
  const { cwd, timeoutSeconds, maxBytes, now, signal } = options;
  const time = AbortSignal.timeout((timeoutSeconds + 5) * 1000);
  const action: RunnableAction = {
    ...RunAction.create({ command, is_static: true, hidden: true, cwd }),
    id: unloggedActionId(),
    timestamp: now.toISOString(),
    source: 'environment',
    timeout: timeoutSeconds,
    executor: runtime.incarnation,
  };
  let text = '';
  let isCut = false;
  const result = await runtime.execute(action, {
    signal: signal ? AbortSignal.any([signal, time]) : time,
    isFresh: true,
    onOutput: (chunk) => {
      options.onText?.(chunk.text);
      if (text.length < maxBytes) text += chunk.text;
      if (text.length >= maxBytes) isCut = true;
    },
  });
  if (result.outcome !== 'observed') throw new Error(result.reason);
  const { observation } = result;
  if (observation.observation !== 'run') throw new Error('content' in observation ? observation.content.slice(0, 500) : 'it did not run');
  return { text: text.slice(0, maxBytes), isCut, exitCode: observation.extras.metadata.exit_code };
}

/** For an action that is in no log. */
export function unloggedActionId(): number {
  return randomInt(FIRST_ID, LAST_ID);
}
