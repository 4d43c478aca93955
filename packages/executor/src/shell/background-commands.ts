import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { textArgument, type ActionHandler, errorObservation } from '../action-handler.ts';
import { runObservation } from './run-observation.ts';
import type { Session } from './session.ts';
import { signalDetached, spawnDetached, withSecrets, type DetachedOptions } from './detached-process.ts';

const MAX_RUNNING = 64;
const KILL_AFTER_MS = 3000;

/** `background` and `kill` of the first protocol: commands with ids, their output in files. Owns their processes. */
export function createBackgroundCommands(
  session: Session,
  options: DetachedOptions,
): { run: ActionHandler; kill: ActionHandler; close(): void } {
  const running = new Map<string, ChildProcess>();
  let next = 0;
  let folder: string | undefined; // of the outputs, where commands can read them

  const run: ActionHandler = ({ args, secrets }) => {
    if (running.size >= MAX_RUNNING)
      return Promise.resolve(errorObservation(`${MAX_RUNNING} background commands are running; kill one first.`));
    const id = String(next++);
    folder ??= mkdtempSync(join(tmpdir(), 'tendon-background-'));
    const path = join(folder, `${id}.log`);
    const log = openSync(path, 'w', 0o600);
    const child = spawnDetached(
      withSecrets(options, secrets),
      session.place,
      textArgument(args, 'command'),
      textArgument(args, 'cwd') || undefined,
      log,
    );
    closeSync(log);
    running.set(id, child);
    child.on('error', () => running.delete(id));
    child.on('exit', () => running.delete(id));
    const content = `It runs in the background as number ${id}: an action \`kill\` with this id ends it. Its output is in ${path}.`;
    const observation = runObservation(args, { content, exitCode: 0 }, session.place);
    return Promise.resolve({ ...observation, extras: { ...observation.extras, command_id: Number(id) } });
  };

  const kill: ActionHandler = async ({ args }) => {
    const id = String(args.id ?? '');
    const child = running.get(id);
    if (!child) return errorObservation(`No background command with id ${id} is running.`);
    await end(options, child);
    const observation = runObservation(
      { command: `kill ${id}` },
      { content: `Number ${id} of the background was ended.`, exitCode: 0 },
      session.place,
    );
    return { ...observation, extras: { ...observation.extras, command_id: Number(id) } };
  };

  return {
    run,
    kill,
    close: () => {
      for (const child of running.values()) signalDetached(options, child, 'SIGKILL');
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Asks the group to end, then makes it. */
function end(options: DetachedOptions, child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => signalDetached(options, child, 'SIGKILL'), KILL_AFTER_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      signalDetached(options, child, 'SIGKILL'); // what the leader left behind
      resolve();
    });
    signalDetached(options, child, 'SIGTERM');
  });
}
