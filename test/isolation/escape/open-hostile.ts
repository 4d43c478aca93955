import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Runtime } from '@tendon/core';
import type { SandboxDriver, ExecutorFolder, Limits } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, leftOf, never, run, runAction, type TestSandboxes } from '@tendon/runtime/testing';
import { layBait, type Bait } from './bait.ts';
import { askTheNeighbour, openPlanted, raceTheServer, raceTheStart } from './race-the-server.ts';
import type { Threat } from './threat.ts';
import { NEIGHBOUR_WORKS } from './threats/neighbour.ts';

export interface EscapeSubject {
  readonly make: (executor: ExecutorFolder, bait: Bait) => SandboxDriver | Promise<SandboxDriver>;
  /** Of the host of the sandboxes, where that is another one. */
  /** The workspace of a conversation for the driver, where that is not a folder of this host. */
  readonly workspaceOf?: (folder: string) => string;
  readonly folders?: () => { readonly root: string; readonly stateRoot: string; readonly workspaces: string };
  /** What is left of an incarnation beside what `leftOf` finds. */
  readonly alsoLeft?: (incarnation: string) => readonly string[];
  readonly close?: () => Promise<void>;
  /** Of the sandbox in a folder that is swapped meanwhile. */
  readonly starts: number;
  /** Those of a kind that are tried, where that is not all. */
  readonly sample?: (threats: readonly Threat[]) => readonly Threat[];
}

/** A sandbox whose agent means harm, with another conversation's beside it and bait on the host. */
export interface Hostile {
  readonly bait: Bait;
  readonly runtime: Runtime;
  readonly sandboxes: TestSandboxes;
  /** Runs the probe as the agent would; answers what it printed. */
  probe(threat: Threat): Promise<string>;
  left(): readonly string[];
  close(): Promise<void>;
}

/** Small ones, so that reaching them costs little. */
export const ESCAPE_LIMITS: Limits = {
  memoryBytes: 512 * 1024 ** 2,
  processes: 150,
  cpus: 2,
  fileBytes: 256 * 1024 ** 2,
  openFiles: 4096,
  tmpBytes: 64 * 1024 ** 2,
  diskBytes: 48 * 1024 ** 2,
};

const ATTEMPT = readFileSync(join(import.meta.dirname, 'attempt.py'));
/** What another conversation serves, on its loopback and as an abstract socket. */
const SERVE = `import socket, sys, threading
def serve(listener):
    while True: listener.accept()[0].sendall(b'HTTP/1.0 200 OK\\r\\n\\r\\n' + sys.argv[2].encode())
abstract = socket.socket(socket.AF_UNIX)
abstract.bind('\\0' + sys.argv[1])
abstract.listen()
port = socket.create_server(('', 0))
for listener in (port, abstract): threading.Thread(target=serve, args=[listener]).start()
print(port.getsockname()[1], flush=True)`;
/** Longer than any probe goes on, also on a busy machine: a command that is handed back early has shown nothing. */
const PROBE_SECONDS = 120;
/** Conversations that work outside of a folder of their own name. */
const FOLDERS: Readonly<Record<string, string>> = { swapped: 'hostile/swapped' };
/** What the server does meanwhile, where a probe waits for that. */
const RACES: Readonly<Record<string, (sandboxes: TestSandboxes, bait: Bait, subject: EscapeSubject) => Promise<string>>> = {
  'symlink-races': ({ runtimes }, { word }) => raceTheServer(runtimes.current('hostile')!, word),
  'planted-files': ({ runtimes }) => openPlanted(runtimes.current('hostile')!),
  'workspace-swap': ({ runtimes }, _, { starts }) => raceTheStart(runtimes, starts),
};

export async function openHostile(subject: EscapeSubject): Promise<Hostile> {
  const bait = await layBait();
  const sandboxes: TestSandboxes = createTestSandboxes(await subject.make(executorFolder(), bait), {
    workspaceOf: async (id) => ({ hostPath: subject.workspaceOf?.(FOLDERS[id] ?? id) ?? workspaceOf(sandboxes.folder, FOLDERS[id] ?? id) }),
    networkOf: async () => ({ mode: 'full', allow: [], allowPrivate: [] }),
  });
  const here = { root: sandboxes.folder, stateRoot: sandboxes.stateRoot, workspaces: sandboxes.folder };
  const { root, stateRoot, workspaces } = subject.folders?.() ?? here;
  execFileSync('git', ['init', '-q', join(workspaces, 'hostile')]); // a person's project
  const other = await sandboxes.runtimes.acquire('other', { signal: never });
  await run(other, `echo ${bait.word} | tee theirs > ~/theirs; bash -c 'read -t 100000' ${bait.facts.mark}-other < /dev/ptmx &`);
  const serving = `python3 -c "${SERVE}" ${bait.facts.mark}-other ${bait.word} > served &`;
  const { output: otherPort } = await run(other, `${serving} until [ -s served ]; do sleep 0.1; done; cat served`);
  const runtime = await sandboxes.runtimes.acquire('hostile', { signal: never });
  const write = (name: string, text: string | Uint8Array, into = runtime) => into.files.write(name, Buffer.from(text), { signal: never });
  for (const each of [runtime, other]) await write('attempt.py', ATTEMPT, each);
  const others = foldersWith('theirs', root).filter((folder) => folder !== process.env.HOME);
  await write('bait.json', '{}', other);
  await write('works.py', `from attempt import *\n${NEIGHBOUR_WORKS}`, other);
  await write(
    'bait.json',
    JSON.stringify({ ...bait.facts, ...ESCAPE_LIMITS, stateRoot, others, otherPort: Number(/\d+$/.exec(otherPort)) }),
  );

  return {
    bait,
    runtime,
    sandboxes,
    async probe({ id, probe, takes }) {
      await write(`${id}.py`, `from attempt import *\n${probe}`);
      const action = runAction(runtime, `python3 ${id}.py && echo the end`, { timeout: PROBE_SECONDS });
      const running = runtime.execute(action, { signal: never });
      const raced = takes ? await askTheNeighbour(sandboxes.runtimes) : ((await RACES[id]?.(sandboxes, bait, subject)) ?? '');
      const result = await running;
      return result.outcome === 'observed' ? `${raced}${result.observation.content}`.replaceAll('\r', '') : result.outcome;
    },
    left: () => [...leftOf(runtime.incarnation, stateRoot), ...(subject.alsoLeft?.(runtime.incarnation) ?? [])],
    async close() {
      await sandboxes.close();
      await subject.close?.();
      bait.close();
    },
  };
}

function workspaceOf(root: string, folder: string): string {
  const path = join(root, folder);
  if (!folder.includes('/')) mkdirSync(path, { recursive: true });
  return path;
}

function foldersWith(file: string, root: string): readonly string[] {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => basename(path) === file).map((path) => dirname(join(root, path)));
}
