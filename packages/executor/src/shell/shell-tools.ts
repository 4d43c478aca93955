import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import { errorObservation, flagArgument, textArgument, type ActionHandler } from '../action-handler.ts';
import type { PidNamespace } from '../processes/pid-namespace.ts';
import { createBackgroundCommands } from './background-commands.ts';
import { shellEnvironment, variablesOfImage, writeGitConfig } from './environment.ts';
import { createNamedSessions, type NamedSessions } from './named-sessions.ts';
import { CommandRunner } from './command-runner.ts';
import { openOwnShell, type OwnShell, type OwnShellOptions } from './own-shell.ts';
import { Session } from './session.ts';
import type { Place, ShellSnapshot } from './shell-memory.ts';
import type { DetachedOptions } from './detached-process.ts';
import { createReadingPace } from './terminal/reading-pace.ts';
import { TakeOver, type AgentShell } from './take-over.ts';
import { createStaticCommand } from './static-command.ts';

const DEFAULT_TIMEOUT_SECONDS = 120;

/** What the shell answers of what the agent does. */
export interface ShellActions {
  readonly run: ActionHandler;
  readonly readBackground: ActionHandler;
  readonly kill: ActionHandler;
}

/** What starts beside the shell. */
interface DetachedStarts {
  /** Where the shell is, and what commands beside it start with. */
  readonly place: () => Place;
  readonly detached: DetachedOptions;
  /** The same for a Chromium that is none of the agent's. */
  detachedForChromium(): Promise<DetachedOptions>;
}

export interface ShellTools extends DetachedStarts {
  readonly actions: ShellActions;
  /** Whether a command is in the foreground, also one that was handed back as still running. */
  isBusy(): boolean;
  /** A person's own, where the agent's is. */
  openOwn(options: Pick<OwnShellOptions, 'size' | 'onOutput' | 'onEnd'>): OwnShell;
  /** The agent's, which an action has taken over. */
  openAgents(options: Pick<OwnShellOptions, 'size' | 'onOutput' | 'onEnd'>): Promise<AgentShell>;
  /** What makes the next session like this one; nothing while a command runs. */
  snapshot(): Promise<ShellSnapshot | undefined>;
  /** What is not the agent's, in the executor's numbering. */
  processes(): readonly number[];
  close(): void;
}

export interface ShellToolsOptions {
  readonly proxyPort: number | undefined;
  /** Whether shells may be looked at now, and helped on. */
  readonly mayLook: () => boolean;
  /** By a shell that was hibernated. */
  readonly left: ShellSnapshot | undefined;
  /** What was left has been taken up. */
  readonly onFirstCommand: () => void;
}

/** The session, others by name, and the commands beside them, behind the actions `run` and `kill`. */
export function createShellTools(
  config: ExecutorConfig,
  shell: string,
  pidNamespace: PidNamespace,
  { proxyPort, mayLook, left, onFirstCommand }: ShellToolsOptions,
): ShellTools {
  const { folders, network = {} } = config;
  const { noOutputTimeoutSeconds, output } = config.limits;
  const script = fileURLToPath(new URL('./session.bash', import.meta.url));
  const gitConfig = proxyPort === undefined ? {} : writeGitConfig(network.gitHosts ?? [], process.env.HOME);
  const { early, late } = variablesOfImage(config.shell.environment ?? {});
  const isOffline = network.isOffline === true;
  const env = { ...shellEnvironment(process.env, { shell, proxyPort, isOffline, ofImage: early }), ...gitConfig };
  const common = { shell, enter: pidNamespace.enter, env };
  const { terminals } = pidNamespace;
  const setsid = config.shell.bundled === undefined ? 'setsid' : join(config.shell.bundled.tools, 'setsid');
  const before = left ?? { workingDir: folders.workDir, shell: late };
  const shown = output && { outputChars: output.chars };
  const pace = createReadingPace();
  const openSession = (from: ShellSnapshot) => new Session({ ...common, ...shown, pace, terminals, setsid, mayLook, script, from });
  const session = openSession(before);
  const readOnly = (folders.protectedPaths ?? []).flatMap(({ path, isReadOnly }) => (isReadOnly ? [path] : []));
  const limits = { noOutputSeconds: noOutputTimeoutSeconds, defaultTimeoutSeconds: DEFAULT_TIMEOUT_SECONDS, readOnly };
  const inSession = new CommandRunner(session, limits);
  const takeOver = new TakeOver(session, inSession, { ...shown, graceSeconds: config.limits.takeOverSeconds });
  const named = createNamedSessions(() => openSession({ workingDir: folders.workDir, shell: late }), limits);
  const runStatic = createStaticCommand(session, common, { pace, defaultTimeoutSeconds: DEFAULT_TIMEOUT_SECONDS, ...shown });
  const background = createBackgroundCommands(session, common);
  const run = chooseRunner({ inSession, named, takeOver, background: background.run, runStatic });
  let isTakenUp = left === undefined;
  function takeUp(): void {
    if (isTakenUp) return;
    isTakenUp = true;
    onFirstCommand();
  }
  return {
    actions: {
      run(request, context) {
        takeUp();
        return run(request, context);
      },
      readBackground: background.read,
      kill: (request, context) => (named.has(textArgument(request.args, 'id')) ? named : background).kill(request, context),
    },
    place: () => session.place,
    snapshot: () => session.snapshot(),
    processes: () => session.processes(),
    detached: common,
    openOwn: (asked) =>
      openOwnShell({ ...common, ...asked, terminals, setsid, pace, place: { ...session.place, exports: late + session.place.exports } }),
    openAgents: (asked) => takeOver.attach(asked),
    detachedForChromium: async () => ({ ...common, enter: await pidNamespace.enterForChromium() }),
    isBusy: () => session.current !== undefined || named.isBusy(),
    close() {
      background.close();
      named.close();
      session.close();
    },
  };
}

interface Runners {
  readonly inSession: CommandRunner;
  readonly named: NamedSessions;
  readonly takeOver: TakeOver;
  readonly background: ActionHandler;
  readonly runStatic: ActionHandler;
}

function chooseRunner({ inSession, named, takeOver, background, runStatic }: Runners): ActionHandler {
  return async (request, context) => {
    if (flagArgument(request.args, 'background')) return background(request, context);
    if (flagArgument(request.args, 'is_static')) return runStatic(request, context);
    if (textArgument(request.args, 'session') !== '') return named.run(request, context);
    if (flagArgument(request.args, 'take_over')) return takeOver.run(request, context);
    if (takeOver.isUnderWay) return errorObservation('A person has this terminal now. Nothing was run.');
    return inSession.run(request, context);
  };
}
