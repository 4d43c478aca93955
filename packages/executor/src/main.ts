import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { BUSY, PROTOCOL, type ExecutorConfig, type SleepAnswer } from '@tendon/protocol/executor-api';
import type { ActionHandler } from './action-handler.ts';
import { parseConfig } from './config.ts';
import { createDoorGuard, type DoorGuard } from './http/auth-guard.ts';
import { createEffects } from './effects/effects.ts';
import { openJournal } from './effects/journal.ts';
import { openOutputFolder } from './effects/output-folder.ts';
import { createLinesToEdit } from './files/edit/lines-to-edit.ts';
import { createSandboxFiles } from './files/sandbox-files.ts';
import { createDisk } from './files/disk.ts';
import { createSyntaxCheck } from './files/edit/syntax-check.ts';
import { createUndoHistory } from './files/edit/undo-history.ts';
import { createUndoableDisk } from './files/edit/undoable-disk.ts';
import { endWork } from './suspend/end-work.ts';
import { findShell } from './shell/find-shell.ts';
import { createHandlers } from './handlers.ts';
import { createLease } from './http/lease.ts';
import { makeNest, type Nest } from './processes/nest.ts';
import { ownFolders } from './own-folders.ts';
import { reasonOf } from './observation.ts';
import { openPlugins } from './plugins/open-plugins.ts';
import { createPortWatch } from './ports/port-watch.ts';
import { createTunnels } from './http/tunnel.ts';
import { createProcessDoor } from './http/process-endpoint.ts';
import { forwardProxy } from './proxy-forwarder.ts';
import { createExecutorServer } from './http/serve.ts';
import { serverInfo } from './http/server-info.ts';
import { createShellTools } from './shell/shell-tools.ts';
import { forgetSession, loadSession, sleepFolder } from './suspend/saved-session.ts';
import { createSleeper, type SleepWish } from './suspend/sleeper.ts';
import { createStandstill } from './suspend/standstill.ts';
import { restoreFolders } from './suspend/temporary-folders.ts';

/** The program inside the sandbox: `node main.mjs --config <ExecutorConfig as JSON>`. It ends with everything it started. */
const STILL_SECONDS = 60;
const { config, guard } = configured();
const { stateDir, volatileFolders = [] } = config;
const slept = loadSession(stateDir);
if (slept) await restoreFolders(sleepFolder(stateDir), volatileFolders);
// The door opens at once; what needs a namespace and a shell waits for them.
const hidden = ownFolders(config);
const bash = findShell(config);
const nesting = makeNest({ shell: bash, hidden, stateDir, tools: config.carried?.tools, terminals: config.terminals });
const proxying = config.proxySocketPath === undefined ? undefined : forwardProxy(config.proxySocketPath);
const shell = Promise.all([nesting, proxying]).then(([nest, proxy]) =>
  createShellTools(config, bash, nest, {
    proxyPort: proxy?.port,
    mayLook: () => !standstill.isStill(),
    left: slept,
    onFirstCommand: () => forgetSession(config.stateDir),
  }),
);
shell.catch(() => {}); // told by the actions that need it
const plugins = openPlugins({ config, shell, notes: slept?.notes ?? {} });
// Beside the agent's own caches: it outlives this sandbox, and the agent can lose nothing by it but its own undo.
const kept = join(process.env.HOME ?? config.stateDir, '.cache/tendon');
const readOnly = (config.protectedPaths ?? []).flatMap(({ path, isReadOnly }) => (isReadOnly ? [join(config.workspace, path)] : []));
const disk = createUndoableDisk(createDisk({ hidden, readOnly, notes: join(kept, 'writing') }), createUndoHistory(join(kept, 'undo')));
const journal = openJournal(config.stateDir, config.incarnation);
const handlers = createHandlers({
  workspace: config.workspace,
  disk,
  checkSyntax: createSyntaxCheck(() => shell),
  run: later('run'),
  kill: later('kill'),
  plugged: plugins.handlers,
});
const effects = createEffects({
  incarnation: config.incarnation,
  journal,
  handlers,
  outputs: openOutputFolder(join(kept, 'output'), config.output),
});
const lease = createLease(
  config.leaseSeconds,
  () => effects.running > 0,
  () => void sleep({ withKernel: true, isLast: true }).finally(end),
);
const fallAsleep = createSleeper({ stateDir, volatileFolders, effects, shell, nesting, plugins });
const ports = createPortWatch(plugins.ports);
const tunnels = createTunnels(ports);
const processes = createProcessDoor(shell);
let nest: Nest | undefined;
void nesting.then((made) => (nest = made));
const standstill = createStandstill({ inUse, own: () => nest?.processes() ?? [] });
const server = createExecutorServer({
  guard,
  alive: { status: 'ok', incarnation: config.incarnation, pid: process.pid, protocol: PROTOCOL },
  info: async () => ({ ...serverInfo(await nesting), plugins: plugins.states() }),
  effects,
  files: createSandboxFiles(config.workspace, disk),
  linesToEdit: createLinesToEdit(config.workspace, disk),
  lease,
  ports,
  tunnels,
  processes,
  plugins,
  sleep,
  standstill,
  endWork: () => endWork({ effects, shell, nesting, plugins }),
  shutdown: end,
  stillMs: (config.stillSeconds ?? STILL_SECONDS) * 1000,
});

/** What is wrong with the configuration is said in a line, before anything is begun. */
function configured(): { readonly config: ExecutorConfig; readonly guard: DoorGuard } {
  try {
    const given = parseConfig(process.argv.slice(2));
    return { config: given, guard: createDoorGuard(given) };
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    return process.exit(2);
  }
}

/** Who comes for one that sleeps is not let in: what never got a connection certainly was not run. */
async function sleep(wish: SleepWish): Promise<SleepAnswer> {
  standstill.goOn();
  const answer = await fallAsleep(wish);
  if (answer.slept) server.close();
  return answer;
}

function inUse(): string | undefined {
  if (nest === undefined) return 'it has only just begun';
  if (effects.running > 0) return BUSY.action;
  if (processes.count() > 0) return 'somebody speaks with a program';
  return tunnels.count() > 0 ? 'somebody is connected to one of its ports' : undefined;
}

function later(name: 'run' | 'kill'): ActionHandler {
  return async (request, context) => (await shell)[name](request, context);
}

function end(): void {
  standstill.goOn();
  lease.close();
  plugins.stop();
  server.close();
  if (config.socketPath !== undefined) rmSync(config.socketPath, { force: true });
  const ended = Promise.allSettled([shell.then((tools) => tools.close()), nesting.then((made) => made.close())]);
  void ended.then(() => process.exit(0));
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
process.on('unhandledRejection', (error) => process.stderr.write(`${String(error)}\n`));
if (config.socketPath !== undefined) {
  rmSync(config.socketPath, { force: true });
  server.listen(config.socketPath);
} else server.listen(config.port, config.host ?? '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`listening${config.port === undefined ? '' : ` on ${(server.address() as AddressInfo).port}`}\n`);
