import type { ObservationDraft } from '@tendon/protocol';
import { pythonOn } from './python-on.ts';
import type { Place } from './session.ts';

export interface RunResult {
  readonly content: string;
  /** −1: still running, or not run. */
  readonly exitCode: number;
  readonly prefix?: string;
  readonly suffix?: string;
}

/** An observation of `run` with everything clients look for beside the output. `place` is absent while a command still runs. */
export function runObservation(
  args: Readonly<Record<string, unknown>>,
  { content, exitCode, prefix = '', suffix = '' }: RunResult,
  place: Place | undefined,
): ObservationDraft<'run'> {
  const metadata = {
    exit_code: exitCode,
    pid: place?.pid ?? -1,
    username: place?.username || null,
    hostname: place?.hostname || null,
    working_dir: place?.workingDir ?? null,
    py_interpreter_path: place ? pythonOn(place.exports) : null,
    prefix,
    suffix,
  };
  const command = typeof args.command === 'string' ? args.command : '';
  return {
    observation: 'run',
    content,
    extras: { command, metadata, hidden: args.hidden === true },
    success: exitCode === 0,
  };
}
