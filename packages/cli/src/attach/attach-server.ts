/**
 * The server of a home, for a command of its user: the one that runs there, or one that is started for it and ends when nobody is connected
 * any more and no agent works.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Config } from '@tendon/server/headless';
import { runningServer, type ServerAddress } from './running-server.ts';

const LOOK_MS = 100;
/** A store of an earlier version may be upgraded first. */
const START_MS = 300_000;
/** Another command is starting one at this moment. */
const OTHER_MS = 10_000;

/** A server that is started gets `env`. Rejects with an Error whose message can be shown. */
export async function attachServer(
  config: Config,
  env: NodeJS.ProcessEnv,
): Promise<ServerAddress & { /** This program started it. */ readonly isStarted: boolean }> {
  const running = await runningServer(config);
  return running ? { ...running, isStarted: false } : { ...(await startServer(config, env)), isStarted: true };
}

async function startServer(config: Config, env: NodeJS.ProcessEnv): Promise<ServerAddress> {
  await mkdir(config.home, { recursive: true, mode: 0o700 });
  const path = join(config.home, 'server.log');
  const log = openSync(path, 'w', 0o600);
  const [program, ...flags] = [process.execPath, ...process.execArgv, process.argv[1]!];
  // In a session of its own, so that it outlives this terminal while another client uses it.
  const child = spawn(program, [...flags, 'serve', '--while-used', '--host', '127.0.0.1', '--port', '0'], {
    env: { ...env, TENDON_HOME: config.home },
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  const ended = new AbortController();
  void once(child, 'exit').then(
    () => ended.abort(),
    () => ended.abort(),
  );
  const server = (await untilAnswers(config, START_MS, ended.signal)) ?? (await untilAnswers(config, OTHER_MS));
  child.unref();
  if (server) return server;
  const words = (await readFile(path, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
  throw new Error(`No server could be started on ${config.home}.${words === '' ? '' : ` It wrote:\n${words}`}`);
}

async function untilAnswers(config: Config, deadlineMs: number, ended?: AbortSignal): Promise<ServerAddress | undefined> {
  const deadline = AbortSignal.timeout(deadlineMs);
  while (!deadline.aborted) {
    const server = await runningServer(config);
    if (server || ended?.aborted) return server;
    await setTimeout(LOOK_MS);
  }
  return undefined;
}
