import { mkdtempSync, readdirSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@tendon/protocol/masking';
import { itInFull, runs } from '@tendon/testing';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalDriver, createRemoteDriver } from '@tendon/runtime';
import { anchorOf, createTestSandboxes, executorFolder, findProcesses, never, run } from '@tendon/runtime/testing';
import { asOrdinaryUser, IS_ROOT } from './as-ordinary-user.ts';
import { laySwap, swapInBetween, swapWorkspaces, type Swapped } from './swap-workspaces.ts';

const STARTS = runs(100, 5);
const local = () => createLocalDriver({ executor: executorFolder() });
/** Each of them says what is wrong. A bubblewrap that looks at the path twice notices a swap itself. */
const IN_WORDS =
  /^(?![^]*written outside)The sandbox did not start \([^)]+\): [^]*(?:a link is in its place|another folder has been put in the place of the workspace|bwrap: Can't (?:get type of source|find source path|bind mount))/;

function place(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-swap-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function expectHeld({ swaps, started, real, refused, escaped }: Swapped, words: RegExp): void {
  expect(escaped).toEqual([]);
  expect(swaps).toBeGreaterThanOrEqual(10_000);
  expect(real).toBe(started);
  expect(started + refused.length).toBeGreaterThan(0);
  for (const refusal of refused) expect(refusal).toMatch(words);
}

it('SB300: a link in the place of a workspace is refused in words, at the first start and after a stop', async () => {
  const folder = place();
  const { inner, link } = laySwap(join(folder, 'base'));
  const sandboxes = createTestSandboxes(local(), { folder, workspaceOf: async () => ({ hostPath: inner }) });
  try {
    expect((await run(await sandboxes.runtimes.acquire('c', { signal: never }), 'ls')).output).toBe('real');
    await sandboxes.runtimes.stop('c');
    renameSync(inner, join(folder, 'aside'));
    renameSync(link, inner);
    await expect(sandboxes.runtimes.acquire('c', { signal: never })).rejects.toThrow(IN_WORDS);
    await expect(sandboxes.runtimes.acquire('new', { signal: never })).rejects.toThrow(IN_WORDS);
    // The same with a link above it.
    symlinkSync(folder, join(folder, 'above'));
    const above = createTestSandboxes(local(), { workspaceOf: async () => ({ hostPath: join(folder, 'above/aside') }) });
    await expect(above.runtimes.acquire('c', { signal: never })).rejects.toThrow(IN_WORDS);
    await above.close();
  } finally {
    await sandboxes.close();
  }
});

it('SB300: what was opened is mounted, whatever its path leads to by then', async () => {
  const folder = place();
  const seen = await swapInBetween(local(), { base: join(folder, 'base'), folder });
  expect(seen).toMatch(IS_ROOT ? /^real\s+written$/ : IN_WORDS);
});

it('SB300: nothing in a sandbox holds a descriptor of the host, by which it could be left', async () => {
  const sandboxes = createTestSandboxes(local());
  try {
    const runtime = await sandboxes.runtimes.acquire('c', { signal: never });
    await run(runtime, 'true');
    const pids = [...findProcesses(runtime.incarnation, 'cmdline'), anchorOf(await sandboxes.handle('c')).pid];
    const open = pids.flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)));
    expect(pids.length).toBeGreaterThan(1);
    expect(open.filter((path) => path.startsWith(sandboxes.folder) && statSync(path).isDirectory())).toEqual([]);
  } finally {
    await sandboxes.close();
  }
});

itInFull('SB301: a workspace that is swapped for a link while sandboxes start leads nowhere else', async () => {
  const folder = place();
  const swapped = await swapWorkspaces(local(), { base: join(folder, 'base'), folder }, runs(30, 6));
  expectHeld(swapped, IN_WORDS);
  expect(swapped.real).toBeGreaterThan(0);
});

itInFull('SB301: nor where the server is an ordinary user', () => {
  if (!IS_ROOT) return; // then the others prove it
  const { between, swapped } = asOrdinaryUser<{ between: string; swapped: Swapped }>(
    'ordinary-user-swaps.ts',
    place(),
    'local',
    String(STARTS),
  );
  expect(between).toMatch(IN_WORDS);
  expectHeld(swapped, IN_WORDS);
});

itInFull('SB301: nor on another host', async () => {
  const host = await ExecutorHostProcess.start();
  onTestFinished(() => host.remove());
  const driver = createRemoteDriver({ url: host.url, key: new Secret(host.key) });
  const swapped = await swapWorkspaces(driver, { base: host.workspace, hostPath: '/workspace/inner' }, STARTS);
  expectHeld(swapped, /a link is in its place|is outside of|not allowed|TENDON_ALLOWED_DIRS|has been put in the place/);
});
