/** Starts sandboxes while somebody who may write above a workspace swaps it for a link: what a hostile agent in the folder above does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { SandboxDriver } from '@tendon/runtime';
import { createTestSandboxes, never, run } from '@tendon/runtime/testing';

export interface SwapPlace {
  /** Writable by the process that swaps. */
  readonly base: string;
  /** Of `<base>/inner` for the driver; default: that path. */
  readonly hostPath?: string;
  readonly folder?: string;
  /** Of the agent, in each sandbox; it says `real` where it sees the folder. */
  readonly command?: string;
}

export interface Swapped {
  readonly starts: number;
  readonly swaps: number;
  /** Those that ended in a sandbox whose command ran. */
  readonly started: number;
  /** Those of them that saw the folder. */
  readonly real: number;
  /** Why the others did not start, each once. */
  readonly refused: readonly string[];
  /** What of the folder outside was seen or written. */
  readonly escaped: readonly string[];
}

const MIN_SWAPS = 10_000;
/** Many times in a row, and then now and again: what mounts one path after the other gets far before it happens to it. */
const SWAPPER = String.raw`
import ctypes, errno, os, sys, time
inner, link, enough = (path.encode() for path in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
swaps = 0
def swap():
    global swaps
    # Busy: mounted on this host just now, for an engine.
    if libc.renameat2(-100, inner, -100, link, 2) == 0: swaps += 1
    elif ctypes.get_errno() != errno.EBUSY: raise OSError(ctypes.get_errno(), 'renameat2')
began = False
while not (os.path.exists(enough) and swaps >= ${MIN_SWAPS}):
    for _ in range(200): swap()
    if not began: print('began', flush=True)
    began = True
    for _ in range(10):
        if swaps % 2: swap()
        time.sleep(0.003)
        swap()
        for _ in range(300): pass
        swap()
print(swaps)
`;

/** `<base>/inner` with a file in it, `<base>/link` to a folder with a secret unless there is one, and that folder. */
export function laySwap(base: string): { readonly inner: string; readonly link: string; readonly outside: string } {
  const [inner, link, outside] = [join(base, 'inner'), join(base, 'link'), join(base, '../outside')];
  for (const folder of [base, inner, outside]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(inner, 'real'), '');
  writeFileSync(join(outside, 'secret'), '');
  if (!lstatSync(link, { throwIfNoEntry: false })) symlinkSync(outside, link);
  return { inner, link, outside };
}

/** Sandboxes one after the other in `<base>/inner`, which is a folder and a link in turn. */
export async function swapWorkspaces(
  driver: SandboxDriver,
  { base, hostPath, folder, command = 'touch written; ls /workspace "$PWD"' }: SwapPlace,
  starts: number,
): Promise<Swapped> {
  const { inner, link, outside } = laySwap(base);
  const before = namesBelow(outside);
  const sandboxes = createTestSandboxes(driver, {
    ...(folder !== undefined && { folder }),
    workspaceOf: async () => ({ hostPath: hostPath ?? inner }),
  });
  const enough = join(base, 'enough');
  const swapper = spawn('python3', ['-c', SWAPPER, inner, link, enough], { stdio: ['ignore', 'pipe', 'inherit'] });
  const began = once(swapper.stdout, 'data');
  const printed = text(swapper.stdout);
  const refused = new Set<string>();
  const seen = new Set<string>();
  let started = 0;
  let real = 0;
  try {
    await began;
    for (let start = 0; start < starts; start++) {
      const id = `swapped-${start}`;
      try {
        const runtime = await sandboxes.runtimes.acquire(id, { signal: never });
        const names = (await run(runtime, command)).output.split(/\s+/);
        started += 1;
        for (const name of names) if (['secret', 'outside', 'base'].includes(name)) seen.add(name);
        if (names.includes('real')) real += 1;
      } catch (cause) {
        refused.add((cause as Error).message.replaceAll(base, '<base>'));
      }
      await sandboxes.runtimes.stop(id, { forGood: true });
    }
    for (const words of writtenTo(outside, before)) seen.add(words);
  } finally {
    writeFileSync(enough, '');
    await once(swapper, 'exit');
    await sandboxes.close();
  }
  const swaps = Number((await printed).trim().split('\n').at(-1));
  return { starts, swaps, started, real, refused: [...refused], escaped: [...seen] };
}

/** The same where it is certain: the folder is looked at, then swapped, then mounted. Answers what the sandbox saw, or why there is none. */
export async function swapInBetween(driver: SandboxDriver, { base, folder }: SwapPlace): Promise<string> {
  const { inner, link, outside } = laySwap(base);
  const before = namesBelow(outside);
  const swap = (): void => {
    renameSync(inner, join(base, 'aside'));
    renameSync(link, inner);
  };
  const start: SandboxDriver['start'] = (spec, options) => (swap(), driver.start(spec, options));
  const sandboxes = createTestSandboxes(
    { ...driver, start },
    { ...(folder !== undefined && { folder }), workspaceOf: async () => ({ hostPath: inner }) },
  );
  try {
    const runtime = await sandboxes.runtimes.acquire('between', { signal: never });
    return [(await run(runtime, 'touch written; ls /workspace')).output, ...writtenTo(outside, before)].join();
  } catch (error) {
    return [(error as Error).message, ...writtenTo(outside, before)].join();
  } finally {
    await sandboxes.close();
  }
}

function writtenTo(outside: string, before: readonly string[]): readonly string[] {
  return namesBelow(outside).flatMap((name) => (before.includes(name) ? [] : [`${name} was written outside`]));
}

function namesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}
