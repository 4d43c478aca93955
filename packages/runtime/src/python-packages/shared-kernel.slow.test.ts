import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { itInFull } from '@tendon/testing';
import { ACTIONS, type ObservationDraft } from '@tendon/protocol';
import type { Runtime } from '@tendon/core';
import { afterEach, expect, it, vi } from 'vitest';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import {
  anchorOf,
  createTestSandboxes,
  executorFolder,
  leftOf,
  never,
  observe,
  run,
  until,
  type TestSandboxes,
} from '../testing/sandboxes.ts';

/** Where this machine finds its registry need not be a public address. */
const REGISTRIES = { allow: [], allowPrivate: ['pypi.org:443', 'files.pythonhosted.org:443'] };
const MAKING = /^kernel-packages:/;
/** What a registry needs on a busy day; a deadline, not a measurement. */
vi.setConfig({ testTimeout: 300_000 });

let sandboxes: TestSandboxes | undefined;
afterEach(async () => {
  await sandboxes?.close();
  sandboxes = undefined;
});

/** The record of the sandbox that makes them. */
async function making({ records }: TestSandboxes): Promise<SandboxRecord | undefined> {
  return (await records.list<SandboxRecord>('sandboxes')).find(({ id }) => MAKING.test(id))?.value;
}

function open(mode: 'full' | 'none' = 'full'): TestSandboxes {
  const networkOf = async () => ({ mode, allow: [], allowPrivate: [] });
  sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }), { registries: REGISTRIES, networkOf });
  return sandboxes;
}

/** A sandbox whose first Python has no packages, not even pip. */
async function withBarePython({ runtimes }: TestSandboxes, name: string): Promise<Runtime> {
  const runtime = await runtimes.acquire(name, { signal: never });
  const { exitCode } = await run(runtime, 'python3 -m venv --without-pip /tmp/bare && export PATH=/tmp/bare/bin:$PATH');
  expect(exitCode).toBe(0);
  return runtime;
}

async function cell(runtime: Runtime, code: string): Promise<{ readonly seen: ObservationDraft; readonly printed: string }> {
  let printed = '';
  const draft = { ...ACTIONS.run_ipython.create({ code }), timeout: 300 };
  const seen = await observe(runtime, draft, { onOutput: ({ text }) => void (printed += text) });
  return { seen, printed };
}

const TWO = { observation: 'run_ipython', content: expect.stringMatching(/^2\n/), success: true };

/** A deadline: pip loads packages. */
const INSTALLS = { timeout: 300_000 };

it(
  'RT120: two who need it at once share one installation; it is there for all later ones, and nobody can change it',
  INSTALLS,
  async () => {
    const own = open();
    const two = await Promise.all(['one', 'two'].map((name) => withBarePython(own, name)));
    const cells = await Promise.all(two.map((runtime) => cell(runtime, '1 + 1')));
    for (const { seen, printed } of cells) {
      expect(seen).toMatchObject(TWO);
      expect(printed).toMatch(/^Installing ipykernel for Python 3\.\d+ \(once for all conversations\) …\n/);
    }
    expect(readdirSync(join(own.stateRoot, 'kernels/local'))).toEqual([expect.stringMatching(/^cpython-3\d+$/)]);
    expect((await run(two[0]!, 'ls ~/.cache/tendon/kernel')).exitCode).not.toBe(0);
    expect(await making(own)).toBeUndefined();

    const later = await withBarePython(own, 'later');
    expect(await cell(later, '1 + 1')).toMatchObject({ seen: TWO, printed: expect.not.stringContaining('Installing') });
    const { output } = await run(later, 'touch /opt/tendon/kernel/cpython-3*/ipykernel/__init__.py /opt/tendon/kernel/new');
    expect(output.match(/Read-only file system|Permission denied/g)).toHaveLength(2);
  },
);

itInFull('RT121: what is killed in the middle leaves nothing that is used, and nothing at all', INSTALLS, async () => {
  const own = open();
  const runtime = await withBarePython(own, 'killed');
  const first = cell(runtime, '1 + 1');
  await until('the installation to begin', async () => (await making(own))?.state === 'live');
  const { incarnation, conversation_id: id } = (await making(own))!;
  const handle = await own.handle(id);
  process.kill(anchorOf(handle).pid, 'SIGKILL');
  expect((await first).seen.content).toContain('has no package "ipykernel"');
  expect(readdirSync(join(own.stateRoot, 'kernels/local'))).toEqual([]);
  expect(leftOf(incarnation, own.stateRoot)).toEqual([]);
  expect(existsSync(join(own.stateRoot, incarnation))).toBe(false);
});

it('RT122: without a network the error says what to install, and nothing is fetched for it', async () => {
  const own = open('none');
  const { seen } = await cell(await withBarePython(own, 'offline'), '1');
  expect(seen).toMatchObject({ observation: 'error', content: expect.stringContaining('has no package "ipykernel"') });
  expect(seen.content).toContain('apt-get install python3-ipykernel');
  expect(await making(own)).toBeUndefined();
  expect(readdirSync(join(own.stateRoot, 'kernels/local'))).toEqual([]);
});
