import type { CommandEnd, RunningCommand } from './foreground/foreground.ts';

/**
 *   starting → ready ⇄ running ⇄ entering-inner       ready, running, entering-inner → ending → starting
 *   starting → starting | dead                        dead → starting, when a command is asked for
 */
export type SessionState =
  /** Its shell is coming up; what it prints is of no command. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready' }
  /** `isInnerRefused`: another bash waits in it and would not have our line; it is used as any program is. */
  | { readonly kind: 'running'; readonly command: RunningCommand; readonly hasSecrets: boolean; readonly isInnerRefused: boolean }
  /** The command has become a shell, which was asked to take the next commands; asked how many times already. */
  | { readonly kind: 'entering-inner'; readonly command: RunningCommand; readonly rounds: number }
  /** Its shell is lost or has exited, and is replaced when the rest of its output has come. */
  | { readonly kind: 'ending'; readonly command: RunningCommand | undefined; readonly wasEntering: boolean }
  /** One shell after the other ended before its first prompt. */
  | { readonly kind: 'dead' };

export function commandOf(state: SessionState): RunningCommand | undefined {
  return 'command' in state ? state.command : undefined;
}

/** The shell ends: no command can be started until there is another. Nothing where that is known already, or there is none. */
export function endingOf(state: SessionState): SessionState | undefined {
  if (state.kind === 'starting' || state.kind === 'ending' || state.kind === 'dead') return undefined;
  return { kind: 'ending', command: commandOf(state), wasEntering: state.kind === 'entering-inner' };
}

/** The command in the foreground has ended. */
export function withoutCommand(state: SessionState): SessionState {
  return state.kind === 'ending' ? { ...state, command: undefined } : { kind: 'ready' };
}

/** How a command ended whose shell is gone: `exitCode` is the shell's, and counts where the command ended its shell and reported nothing. */
export function endWithShell({ phase, after, report, marked }: RunningCommand, wasEntering: boolean, exitCode: number): CommandEnd {
  const isDeaf = phase === 'typed' && !wasEntering;
  const shell = after ?? (isDeaf ? 'deaf' : 'ended');
  const reported = report?.code ?? marked?.exitCode;
  return { shell, exitCode: shell === 'ended' ? exitCode || (reported ?? exitCode) : (reported ?? -1) };
}
