import type { ObservationDraft } from '@tendon/protocol';
import { findOnPath, isExecutable } from '@tendon/protocol/node';
import type { Place } from './shell-memory.ts';

export interface RunResult {
  readonly content: string;
  /** −1: still running, or not run. */
  readonly exitCode: number;
  readonly prefix?: string;
  readonly suffix?: string;
}

const PATH_LINE = /^declare -\w+ PATH="((?:[^"\\]|\\.)*)"$/m;
let last: { readonly path: string; readonly python: string | null } | undefined;

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

/** The `python` that the shell would run, from its exported variables; null without one. */
function pythonOn(exports: string): string | null {
  const path = PATH_LINE.exec(exports)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? '';
  if (last?.path === path && last.python !== null && isExecutable(last.python)) return last.python;
  last = { path, python: findOnPath(['python', 'python3'], path) ?? null };
  return last.python;
}
