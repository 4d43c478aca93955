import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'tendon-py-'));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

async function start(path: string, env: NodeJS.ProcessEnv = {}): Promise<TestExecutor> {
  const executor = await startExecutor({}, { PATH: path, ...env });
  cleanups.push(() => executor.kill());
  return executor;
}

/** First on PATH: a Python of its own that has no packages, not even pip. */
async function startWithBarePython(): Promise<TestExecutor> {
  const environment = folder();
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', environment]);
  return start(`${environment}/bin:/usr/bin:/bin`);
}

/** A package `ipykernel` that is the system's under a name of its own, so that no registry is needed. */
const MAKE_WHEEL = String.raw`
import sys, zipfile
system = "/usr/lib/python3/dist-packages"
files = {
  "ipykernel/__init__.py": "import sys\nsys.path.append('%s')\n__path__.append('%s/ipykernel')\nfrom ._version import *\nfrom .connect import *\n" % (system, system),
  "ipykernel-7.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: ipykernel\nVersion: 7.0.0\n",
  "ipykernel-7.0.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
files["ipykernel-7.0.0.dist-info/RECORD"] = "".join(name + ",,\n" for name in files) + "ipykernel-7.0.0.dist-info/RECORD,,\n"
with zipfile.ZipFile(sys.argv[1] + "/ipykernel-7.0.0-py3-none-any.whl", "w") as wheel:
    for name, text in files.items(): wheel.writestr(name, text)
`;

itInFull('RT119: a Python without ipykernel gets it once, beside it, with progress', async () => {
  const executor = await startWithBarePython();
  const wheels = folder();
  execFileSync('/usr/bin/python3', ['-c', MAKE_WHEEL, wheels]);
  await executor.run(`export PIP_NO_INDEX=1 PIP_FIND_LINKS=${wheels}`);
  const lines = await executor.lines({
    action: { action: 'run_ipython', args: { code: 'import sys; sys.prefix != sys.base_prefix' }, timeout: 60 },
  });
  expect(lines[0]).toMatchObject({ type: 'output', text: expect.stringContaining('Installing ipykernel for') });
  expect(lines.at(-1)).toMatchObject({ observation: { observation: 'run_ipython', content: expect.stringMatching(/^True\n/) } });
  const cache = join(executor.workspace, '.cache/tendon/kernel');
  expect(readdirSync(cache)).toEqual([expect.stringMatching(/^cpython-3\d+$/)]);
  await executor.run('export PIP_FIND_LINKS=/nowhere');
  await executor.act('run_ipython', { code: 'exit()' }, 30);
  expect(await executor.act('run_ipython', { code: '1 + 1' }, 30)).toMatchObject({ content: expect.stringMatching(/^2\n/) });
});

itInFull('RT119: offline, the error says what to install, and the shell goes on', async () => {
  const executor = await startWithBarePython();
  await executor.run('export PIP_NO_INDEX=1');
  const { observation, content } = await executor.act('run_ipython', { code: '1' }, 60);
  expect(observation).toBe('error');
  expect(content).toMatch(/has no package "ipykernel", and it could not be installed:\n[\s\S]*No matching distribution/);
  expect(content).toContain('apt-get install python3-ipykernel');
  expect(await executor.run('echo on')).toMatchObject({ content: 'on' });
});

it('RT119: no Python is an error that says so', async () => {
  const bin = folder();
  for (const name of readdirSync('/usr/bin')) if (!name.startsWith('python')) symlinkSync(join('/usr/bin', name), join(bin, name));
  const executor = await start(bin);
  expect(await executor.act('run_ipython', { code: '1' })).toMatchObject({
    observation: 'error',
    content: expect.stringContaining('there is no Python here'),
  });
});

it('RT100: nothing of Jupyter is there before the first cell, and no file of it once the kernel is up', async () => {
  const temporary = folder();
  const executor = await start('/usr/bin:/bin', { TMPDIR: temporary });
  await executor.run('true');
  expect(readdirSync(temporary)).toEqual([]);
  expect(await executor.act('run_ipython', { code: '1' }, 30)).toMatchObject({ success: true });
  expect(readdirSync(temporary)).toEqual([]);
});
