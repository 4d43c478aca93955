import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { howHostEnded, shellQuote, type BrowserRequest, type HostConfig } from '@tendon/protocol/executor-api';
import type { ShellTools } from '../shell/shell-tools.ts';
import { killGroup, spawnDetached, type DetachedOptions } from '../shell/detached-process.ts';
import type { BrowserHost } from './browser-host.ts';
import { findChromium } from './host/find-chromium.ts';
import { ownNode } from '../processes/own-node.ts';
import { allProcesses, processStat, signalProcess } from '../processes/process-tree.ts';

export interface BrowserPlaces extends Pick<ShellTools, 'detached' | 'detachedForChromium'> {
  readonly env: DetachedOptions['env'];
  /** Of the server, where it offers a browser beside the sandbox. */
  readonly socketPath: string | undefined;
}

const TAIL_CHARS = 1000;

/**
 * With the sandbox's own Chromium, which may have been installed meanwhile; else beside it, where the server offers that. One that the
 * agent may have put there runs where the agent's programs do, and cannot make a sandbox of its own.
 */
export async function startBrowserHost(places: BrowserPlaces, config: HostConfig): Promise<BrowserHost> {
  const { detached, detachedForChromium, env, socketPath } = places;
  const chromium = findChromium(env);
  if (chromium !== undefined && !isOfAgent(chromium))
    return spawnBrowserHost({ ...(await detachedForChromium()), env }, { ...config, chromium });
  if (chromium !== undefined || socketPath === undefined || !existsSync(socketPath)) return spawnBrowserHost({ ...detached, env }, config);
  const { proxyUrl, startUrl } = config;
  return connectBrowserHost(socketPath, { ...(proxyUrl !== undefined && { proxyUrl }), ...(startUrl !== undefined && { startUrl }) });
}

/** Whether this user, who is the agent's too, could have changed the file or put another in its place. */
function isOfAgent(path: string): boolean {
  try {
    for (let each = realpathSync(path); ; each = dirname(each)) {
      if (isWritable(each)) return true;
      if (each === dirname(each)) return false;
    }
  } catch {
    return true; // it goes while it is looked at
  }
}

/** What is the user's own could be made writable. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EROFS' && statSync(path).uid === process.getuid?.();
  }
}

/** A browser that the server starts beside this sandbox, in its network, by connecting; it lives as long as the connection. */
function connectBrowserHost(socketPath: string, request: BrowserRequest): BrowserHost {
  const socket = connect(socketPath);
  let why = 'the connection to it was lost';
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'connect') why = 'the server, which starts it beside this sandbox, does not answer';
  });
  socket.write(`${JSON.stringify(request)}\n`);
  return {
    input: socket,
    output: socket,
    ended: new Promise((resolve) => socket.once('close', () => resolve(why))),
    get hasEnded() {
      return socket.destroyed;
    },
    kill: () => void socket.destroy(),
  };
}

/** The host of a browser as a process of this sandbox, where the agent's own are. */
function spawnBrowserHost(detached: DetachedOptions, config: HostConfig): BrowserHost {
  const child = spawnDetached(detached, { exports: '', workingDir: config.workspace }, commandOf(config), undefined, 'pipe', 'pipe');
  let stderr = '';
  child.stdin?.on('error', () => {}); // it is gone; `exit` follows
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-TAIL_CHARS)));
  return {
    input: child.stdin!,
    output: child.stdout!,
    ended: new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('exit', (code, signal) => resolve(howHostEnded(code, signal, stderr)));
    }),
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    kill() {
      for (const pid of child.pid === undefined ? [] : descendantsOf(child.pid)) signalProcess(pid, 'SIGKILL');
      killGroup(child, 'SIGKILL');
    },
  };
}

/** The same Node in the same way, and the program beside this one. */
function commandOf(config: HostConfig): string {
  const built = fileURLToPath(new URL('browser.mjs', import.meta.url));
  const program = existsSync(built) ? built : fileURLToPath(new URL('host/main.ts', import.meta.url));
  return ['exec', ...[...ownNode(), program, JSON.stringify(config)].map(shellQuote)].join(' ');
}

function descendantsOf(root: number): readonly number[] {
  const parents = allProcesses().map((pid) => [pid, processStat(pid)?.parent] as const);
  const found = [root];
  for (const ancestor of found) found.push(...parents.filter(([, parent]) => parent === ancestor).map(([pid]) => pid));
  return found.slice(1);
}
