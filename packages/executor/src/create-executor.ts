import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join, sep } from 'node:path';
import { BUSY, PROTOCOL, type Alive, type ExecutorConfig, type ExecutorEndpoint, type SuspendAnswer } from '@tendon/protocol/executor-api';
import type { RunnableKind } from '@tendon/protocol';
import { checkpointed, createRestoreAction, preparing, restoredObservation } from './checkpoints/checkpointed.ts';
import { Checkpoints } from './checkpoints/checkpoints.ts';
import { diagnosed, noticed } from './diagnostics/diagnosed.ts';
import { Effects } from './effects/effects.ts';
import { Journal } from './effects/journal.ts';
import { openOutputFolder } from './effects/output-folder.ts';
import { createLinesToEdit } from './files/edit/lines-to-edit.ts';
import { createSyntaxCheck, type SyntaxCheck } from './files/edit/syntax-check.ts';
import { createUndoHistory, UndoableDisk } from './files/edit/undoable-disk.ts';
import { createSandboxFiles } from './files/sandbox-files.ts';
import type { AuthGuard } from './http/auth-guard.ts';
import { createEgressEndpoint, type EgressEndpoint } from './http/egress-endpoint.ts';
import { createLease } from './http/lease.ts';
import { OwnerEpoch } from './http/owner-epoch.ts';
import { createProcessEndpoint, type ProcessEndpoint } from './http/process-endpoint.ts';
import { checkpointRoutes, effectRoutes, endRoutes, fileRoutes, pluginRoutes, portRoutes, statusRoutes } from './http/routes.ts';
import { createExecutorServer, type ServerParts } from './http/serve.ts';
import { serverInfo } from './http/server-info.ts';
import { createShellEndpoint } from './http/shell-endpoint.ts';
import { createTunnels, type Tunnels } from './http/tunnel.ts';
import { openPlugins, type Plugins } from './plugins/open-plugins.ts';
import { createPortWatch, type PortWatch } from './ports/port-watch.ts';
import { makePidNamespace, type PidNamespace } from './processes/pid-namespace.ts';
import { forwardProxy } from './proxy-forwarder.ts';
import { findShell } from './shell/environment.ts';
import { createShellTools, type ShellActions, type ShellTools } from './shell/shell-tools.ts';
import { endWork } from './suspend/end-work.ts';
import { forgetSession, loadSession, hibernationFolder, type SavedSession, restoreFolders } from './suspend/saved-session.ts';
import { createHibernate } from './suspend/hibernate.ts';
import { createSuspension, type Suspension } from './suspend/suspension.ts';
import { type ActionHandler, errorObservation } from './action-handler.ts';
import { createEditAction } from './files/edit/edit-action.ts';
import { backgroundRead } from './shell/background-commands.ts';
import { createReadAction } from './files/read-action.ts';
import { readTextFile } from './files/text-file.ts';
import { createSearchFiles, type SearchFiles } from './files/search/search-files.ts';
import { createWriteAction } from './files/write-action.ts';

export interface Executor {
  /** Resolves when requests are taken, with the port if it has one. */
  listen(): Promise<number | undefined>;
  /** Resolves when it shall end: a server asked for it, or none has needed it for too long. */
  readonly over: Promise<void>;
  /** Ends everything it started. */
  end(): Promise<void>;
}

const STILL_SECONDS = 60;

/** In the order of dependence. It listens at once; what needs a namespace and a shell waits for them. */
export async function createExecutor(config: ExecutorConfig, guard: AuthGuard): Promise<Executor> {
  const { endpoint, folders, limits } = config;
  const { stateDir, volatileFolders = [] } = folders;
  const left = loadSession(stateDir);
  if (left) await restoreFolders(hibernationFolder(stateDir), volatileFolders);
  const hidden = ownFolders(config);
  const bash = findShell(config.shell);
  const { bundled, terminals, isAlone = false } = config.shell;
  const makingPidNamespace = makePidNamespace({ shell: bash, hidden, stateDir, tools: bundled?.tools, terminals });
  const [suspension, egress] = [createSuspension(makingPidNamespace), openEgress(config)];
  const shell = openShell(config, { bash, makingPidNamespace, suspension, left });
  const plugins = openPlugins({ config, shell, notes: left?.notes ?? {} });
  const disk = openDisk(config, hidden);
  const checkpoints = await openCheckpoints(config, hidden);
  const effects = openEffects(config, { disk, shell, plugins, checkpoints });
  const ports = createPortWatch(plugins.ports);
  const used = { effects, ...openWays(ports, shell) };
  const letIn = new AbortController();
  const hibernateOnce = createHibernate({ stateDir, isAlone, volatileFolders, effects, shell, makingPidNamespace, plugins });
  /** A hibernated executor accepts no connection: an action that never got one certainly did not run. */
  const hibernate: typeof hibernateOnce = async (request) => {
    suspension.resume();
    const answer = await hibernateOnce(request);
    if (answer.slept) letIn.abort();
    return answer;
  };
  const over = Promise.withResolvers<void>();
  const lease = createLease(limits.leaseSeconds, () => effects.running > 0);
  void lease.expired.then(() => hibernate({ withKernel: true, isLast: true })).finally(over.resolve);
  const { resume } = suspension;
  const suspend = (): SuspendAnswer => suspension.suspend(usedBy(used));
  const endAll = (): Promise<void> => endWork({ effects, shell, makingPidNamespace, plugins });
  const routes = {
    ...statusRoutes({
      alive: aliveOf(config),
      info: async () => ({ ...serverInfo(await makingPidNamespace), plugins: plugins.states() }),
      lease,
    }),
    ...effectRoutes(effects, resume),
    ...fileRoutes(createSandboxFiles(folders.workspace, disk, effects.makeRoom), createLinesToEdit(folders.workspace, disk)),
    ...checkpointRoutes(checkpoints),
    ...portRoutes(ports),
    ...pluginRoutes(plugins, resume),
    ...endRoutes({ hibernate, suspend, resume, endWork: endAll, shutdown: over.resolve }),
  };
  const [stillMs, ownerEpoch] = [(limits.stillSeconds ?? STILL_SECONDS) * 1000, new OwnerEpoch(stateDir)];
  const server = createExecutorServer({ guard, ownerEpoch, lease, routes, upgrade: upgradeTo({ ...used, egress }, resume), stillMs });
  return {
    over: over.promise,
    listen: () => listen(server, endpoint, letIn.signal),
    async end() {
      resume();
      for (const each of [lease, checkpoints, egress]) each?.close();
      plugins.stop();
      letIn.abort();
      if (endpoint.socketPath !== undefined) rmSync(endpoint.socketPath, { force: true });
      await Promise.allSettled([shell.then((tools) => tools.close()), makingPidNamespace.then((made) => made.close())]);
    },
  };
}

function aliveOf({ incarnation }: ExecutorConfig): Alive {
  return { status: 'ok', incarnation, pid: process.pid, protocol: PROTOCOL };
}

/** What connections are taken over for. */
function openWays(ports: PortWatch, shell: Promise<ShellTools>): Omit<UsedParts, 'effects'> {
  return { tunnels: createTunnels(ports), processes: createProcessEndpoint(shell), shells: createShellEndpoint(shell) };
}

/** Where the host makes the connections by which what runs inside leaves the sandbox. */
function openEgress({ network: { egressByHost = false, proxySocketPath } = {} }: ExecutorConfig): EgressEndpoint | undefined {
  return egressByHost && proxySocketPath !== undefined ? createEgressEndpoint(proxySocketPath) : undefined;
}

/** Takes a connection over for a program, a shell, a port, or what leaves the sandbox. */
function upgradeTo(
  { processes, shells, tunnels, egress }: Omit<UsedParts, 'effects'> & { readonly egress: EgressEndpoint | undefined },
  resume: () => void,
): ServerParts['upgrade'] {
  return (request, client, head) => {
    if (egress && request.url === '/egress') return egress.join(request, client, head);
    resume();
    const named =
      request.headers.upgrade === 'tcp'
        ? { '/process': processes, '/shell': shells, '/agent-shell': shells }[request.url ?? '']
        : undefined;
    (named ?? tunnels).join(request, client, head);
  };
}

async function listen(
  server: Server,
  { socketPath, port, host = '127.0.0.1' }: ExecutorEndpoint,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (socketPath !== undefined) rmSync(socketPath, { force: true });
  server.listen(socketPath === undefined ? { port, host, signal } : { path: socketPath, signal });
  await once(server, 'listening');
  return port === undefined ? undefined : (server.address() as AddressInfo).port;
}

interface ShellParts {
  readonly bash: string;
  readonly makingPidNamespace: Promise<PidNamespace>;
  readonly suspension: Suspension;
  readonly left: SavedSession | undefined;
}

/** The actions that need it report its failure. */
function openShell(config: ExecutorConfig, { bash, makingPidNamespace, suspension, left }: ShellParts): Promise<ShellTools> {
  const { proxySocketPath } = config.network ?? {};
  const proxying = proxySocketPath === undefined ? undefined : forwardProxy(proxySocketPath);
  const shell = Promise.all([makingPidNamespace, proxying]).then(([pidNamespace, proxy]) =>
    createShellTools(config, bash, pidNamespace, {
      proxyPort: proxy?.port,
      mayLook: () => !suspension.isSuspended(),
      left,
      onFirstCommand: () => forgetSession(config.folders.stateDir),
    }),
  );
  shell.catch(() => {});
  return shell;
}

function openDisk(config: ExecutorConfig, hidden: readonly string[]): UndoableDisk {
  const { workspace, protectedPaths = [] } = config.folders;
  const readOnly = protectedPaths.flatMap(({ path, isReadOnly }) => (isReadOnly ? [join(workspace, path)] : []));
  const notes = join(cacheOf(config), 'writing');
  return new UndoableDisk({ hidden, readOnly, notes }, createUndoHistory(join(cacheOf(config), 'undo')));
}

/** A restore that was cut off is finished first, and its outcome is in the journal. */
async function openCheckpoints(config: ExecutorConfig, hidden: readonly string[]): Promise<Checkpoints> {
  const { workspace, stateDir, protectedPaths = [] } = config.folders;
  const readOnly = protectedPaths.flatMap(({ path, isReadOnly }) => (isReadOnly ? [join(workspace, path)] : []));
  const checkpoints = new Checkpoints({
    workspace,
    stateDir,
    isOn: config.checkpoints !== false,
    excluded: [...readOnly, ...hidden, cacheOf(config)],
  });
  checkpoints.removeCopies();
  await checkpoints.finishRestore((key, number, restored) => {
    const journal = new Journal(stateDir, config.incarnation);
    if (journal.find(key)) journal.done(key, restoredObservation(number, restored));
    journal.close();
  });
  return checkpoints;
}

interface EffectParts {
  readonly disk: UndoableDisk;
  readonly shell: Promise<ShellTools>;
  readonly plugins: Plugins;
  readonly checkpoints: Checkpoints;
}

function openEffects(config: ExecutorConfig, { disk, shell, plugins, checkpoints }: EffectParts): Effects {
  const handlers = createHandlers({
    workspace: config.folders.workspace,
    disk,
    checkSyntax: createSyntaxCheck(() => shell),
    searchFiles: createSearchFiles(() => shell),
    run: async (request, context) => (await shell).actions.run(request, context),
    kill: async (request, context) => (await shell).actions.kill(request, context),
    readBackground: async (request, context) => (await shell).actions.readBackground(request, context),
    plugged: plugins.handlers,
    diagnostics: plugins.diagnostics,
    checkpoints,
  });
  return new Effects({
    incarnation: config.incarnation,
    journal: new Journal(config.folders.stateDir, config.incarnation),
    handlers,
    outputs: openOutputFolder(join(cacheOf(config), 'output'), config.limits.output),
  });
}

/** Beside the agent's own caches: it outlives this sandbox, and the agent can lose nothing by it but its own undo. */
function cacheOf({ folders: { stateDir } }: ExecutorConfig): string {
  return join(process.env.HOME ?? stateDir, '.cache/tendon');
}

interface UsedParts {
  readonly effects: Pick<Effects, 'running'>;
  readonly processes: ProcessEndpoint;
  readonly shells: ProcessEndpoint;
  readonly tunnels: Tunnels;
}

/** Why what the agent started may not be suspended now, whatever it does. */
function usedBy({ effects, processes, shells, tunnels }: UsedParts): string | undefined {
  if (effects.running > 0) return BUSY.action;
  if (processes.count() > 0) return 'somebody speaks with a program';
  if (shells.count() > 0) return 'somebody has a shell in it';
  return tunnels.count() > 0 ? 'somebody is connected to one of its ports' : undefined;
}

/** The folders that only the executor uses: its journal, its socket, the way to the proxy. One that holds the workspace is not its own. */
function ownFolders({ folders, endpoint, network }: ExecutorConfig): string[] {
  mkdirSync(folders.stateDir, { recursive: true, mode: 0o700 });
  const sockets = [endpoint.socketPath, network?.proxySocketPath].flatMap((path) => (path === undefined ? [] : [dirname(path)]));
  const holdsOther = (folder: string): boolean =>
    [folders.workspace, process.env.HOME ?? ''].some((path) => `${path}${sep}`.startsWith(`${folder}${sep}`));
  return [...new Set([folders.stateDir, ...sockets])].filter((folder) => !holdsOther(folder));
}

interface HandlerParts extends ShellActions {
  readonly workspace: string;
  readonly disk: UndoableDisk;
  readonly checkSyntax: SyntaxCheck;
  readonly searchFiles: SearchFiles;
  /** What plugins answer; they come before what is here. */
  readonly plugged: Partial<Readonly<Record<RunnableKind, ActionHandler>>>;
  readonly diagnostics: Plugins['diagnostics'];
  readonly checkpoints: Checkpoints;
}

/** Every kind that the executor answers; a new kind does not compile until it is here. */
function createHandlers({ checkpoints, plugged, ...parts }: HandlerParts): Readonly<Record<RunnableKind, ActionHandler>> {
  const { workspace, disk } = parts;
  const readFile = createReadAction(workspace, disk, parts.searchFiles);
  const handlers = {
    run: parts.run,
    kill: parts.kill,
    read: ((request, context) => (backgroundRead(request.args) ? parts.readBackground : readFile)(request, context)) as ActionHandler,
    write: createWriteAction(workspace, disk),
    edit: createEditAction({ workspace, disk, checkSyntax: parts.checkSyntax }),
    run_ipython: absent('the plugin `jupyter`'),
    browse: absent('the plugin `browser`'),
    browse_interactive: absent('the plugin `browser`'),
    restore_checkpoint: createRestoreAction(checkpoints),
    ...plugged,
  };
  const wrapped = Object.entries(handlers).map(([kind, handler]) => {
    const wrap = CHANGES.has(kind) ? checkpointed : READS.has(kind) ? preparing : undefined;
    const watched = withDiagnostics(kind, handler, parts);
    return [kind, wrap ? wrap(watched, checkpoints) : watched] as const;
  });
  return Object.fromEntries(wrapped) as Record<RunnableKind, ActionHandler>;
}

/** A longer text is no code that somebody wrote. */
const MAX_CHECKED_CHARS = 1024 * 1024;

function withDiagnostics(
  kind: string,
  handler: ActionHandler,
  { workspace, disk, diagnostics }: Omit<HandlerParts, 'checkpoints' | 'plugged'>,
): ActionHandler {
  if (!diagnostics) return handler;
  if (kind === 'run' || kind === 'run_ipython') return noticed(handler, { diagnostics });
  const readText = (path: string) =>
    readTextFile(disk, path).then(
      ({ text }) => (text.length > MAX_CHECKED_CHARS ? undefined : text),
      () => undefined,
    );
  return kind === 'write' || kind === 'edit' ? diagnosed(handler, { workspace, diagnostics, readText }) : handler;
}

/** Kinds whose actions may change the workspace, and those before which one that does may follow soon. */
const CHANGES: ReadonlySet<string> = new Set<RunnableKind>(['run', 'run_ipython', 'write', 'edit']);
const READS: ReadonlySet<string> = new Set<RunnableKind>(['read']);

function absent(what: string): ActionHandler {
  return () => Promise.resolve(errorObservation(`This sandbox does not have ${what}: the action was not carried out.`));
}
