import { flagArgument, textArgument, type ActionHandler, errorObservation } from '../action-handler.ts';
import { CommandRunner, type RunLimits } from './command-runner.ts';
import { runObservation } from './run-observation.ts';
import type { Session } from './session.ts';

const MAX_SESSIONS = 8;
/** Begins with a letter: `kill` takes the name where it takes the number of a background command. */
const NAME = /^[a-z][\w-]{0,31}$/i;

/** Shells beside the usual one, each with its folder, its variables and its command in the foreground; opened with their first command. */
export interface NamedSessions {
  readonly run: ActionHandler;
  has(name: string): boolean;
  /** `kill` with a name: ends the shell and what runs in it. */
  readonly kill: ActionHandler;
  isBusy(): boolean;
  close(): void;
}

export function createNamedSessions(open: () => Session, limits: RunLimits): NamedSessions {
  const sessions = new Map<string, { readonly session: Session; readonly runner: CommandRunner }>();

  function opened(name: string): CommandRunner {
    const session = open();
    const runner = new CommandRunner(session, limits);
    sessions.set(name, { session, runner });
    return runner;
  }

  /** Why the action is for no session. */
  function refusal(name: string, isForRunning: boolean): string | undefined {
    if (!NAME.test(name))
      return `"${name.slice(0, 64)}" names no session: a name is a letter and up to 31 more letters, digits, "_" or "-". Nothing was run.`;
    if (sessions.has(name)) return undefined;
    if (isForRunning) return `There is no session "${name}" to interact with. Nothing was sent.`;
    if (sessions.size < MAX_SESSIONS) return undefined;
    return `${MAX_SESSIONS} sessions are open: ${[...sessions.keys()].join(', ')}. Use one of them, or end one with a \`kill\` action whose id is its name. Nothing was run.`;
  }

  return {
    run: async (request, context) => {
      const name = textArgument(request.args, 'session');
      const isForRunning = flagArgument(request.args, 'is_input') || textArgument(request.args, 'command').trim() === '';
      const reason = refusal(name, isForRunning);
      if (reason !== undefined) return errorObservation(reason);
      return (sessions.get(name)?.runner ?? opened(name)).run(request, context);
    },
    has: (name) => sessions.has(name),
    kill: async ({ args }) => {
      const name = textArgument(args, 'id');
      const ended = sessions.get(name);
      if (!ended) return errorObservation(`There is no session "${name}".`);
      sessions.delete(name);
      ended.session.close();
      return runObservation({ command: `kill ${name}` }, { content: `Session "${name}" has ended.`, exitCode: 0 }, ended.session.place);
    },
    isBusy: () => [...sessions.values()].some(({ session }) => session.current !== undefined),
    close() {
      for (const { session } of sessions.values()) session.close();
      sessions.clear();
    },
  };
}
