import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import { findProcesses } from '../../processes/process-identity.ts';
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
} from '../../testing/sandboxes.ts';
import { createDockerDriver } from './docker-driver.ts';
import { engineOfRun } from '../../testing/containers/engine-of-run.ts';
import { openEngine } from '../../testing/containers/open-engine.ts';

const engine = await openEngine(engineOfRun());

describe(`the browser of a container of ${engineOfRun()} whose image has none`, () => {
  let sandboxes: TestSandboxes;
  let runtime: Runtime;
  beforeAll(async () => {
    sandboxes = createTestSandboxes(createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('busybox') }));
    const site = join(sandboxes.workspace, 'site');
    mkdirSync(site);
    writeFileSync(join(site, 'index.html'), '<title>Inside</title><h1>Of the agent</h1><a href="data.bin" download>Take it</a>');
    writeFileSync(join(site, 'data.bin'), 'bytes');
    runtime = await sandboxes.runtimes.acquire('beside', { signal: never });
    await run(runtime, 'httpd -p 127.0.0.1:8080 -h /workspace/site');
  });
  afterAll(async () => {
    await sandboxes?.close();
    await engine.close();
  });

  const browse = (url: string, from = runtime) => observe(from, ACTIONS.browse.create({ url }));
  const programs = (): readonly number[] =>
    findProcesses(runtime.incarnation, 'cmdline').filter((pid) =>
      /^\/opt\/tendon\/bin\/node\0[^]*browser\.mjs/.test(textOf(`/proc/${pid}/cmdline`)),
    );

  /** The program of the browser, which the first action that needs one starts. */
  const program = async (): Promise<number> => {
    await browse('http://127.0.0.1:8080/');
    await until('its program runs', () => programs().length === 1);
    return programs()[0]!;
  };

  itInFull('SB56, RT173: shows what the agent serves on loopback, and takes downloads to the workspace', async () => {
    expect(await browse('http://127.0.0.1:8080/')).toMatchObject({
      observation: 'browse',
      content: expect.stringContaining('# Of the agent'),
      extras: { title: 'Inside', error: false },
    });
    const act = (browser_actions: string) => observe(runtime, ACTIONS.browse_interactive.create({ browser_actions }));
    let taken = await act(`browser.click('a')`);
    // On a busy machine the page gives the file after the action has ended, and a later one reports it.
    while (taken.observation === 'browse') taken = await act('noop(200)');
    expect(taken).toMatchObject({ observation: 'download' });
    const path = join(sandboxes.workspace, '.downloads/data.bin');
    expect([readFileSync(path, 'utf8'), statSync(path).uid]).toEqual(['bytes', process.getuid?.()]);
    expect((await run(runtime, 'cat .downloads/data.bin')).output).toBe('bytes');
  });

  it('SB57: is nobody special in a sandbox of ours, in the network of the container', async () => {
    const anchor = anchorOf(await sandboxes.handle('beside'));
    const pid = await program();
    expect(readlinkSync(`/proc/${pid}/ns/net`)).toBe(readlinkSync(`/proc/${anchor.pid}/ns/net`));
    for (const name of ['pid', 'mnt', 'ipc', 'uts', 'user'])
      expect(readlinkSync(`/proc/${pid}/ns/${name}`), name).not.toBe(readlinkSync(`/proc/self/ns/${name}`));
    const status = textOf(`/proc/${pid}/status`).replaceAll('\t', ' ');
    for (const line of [/^CapEff: 0+$/m, /^NoNewPrivs: 1$/m, /^Seccomp: 2$/m]) expect(status).toMatch(line);
    expect(status).not.toMatch(/^Uid: 0/m);
  });

  it('SB57: reaches neither the host’s loopback nor addresses that the proxy refuses', async () => {
    const host = createServer((_request, response) => response.end('of the host'));
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const { port } = host.address() as AddressInfo;
    const seen = await Promise.all([`http://127.0.0.1:${port}/`, 'http://10.0.0.1/'].map((url) => browse(url)));
    host.close();
    for (const observation of seen) expect(JSON.stringify(observation)).not.toContain('of the host');
    expect(seen[0]).toMatchObject({ content: expect.stringMatching(/refused/i) });
    expect(seen[1]).toMatchObject({ content: expect.stringContaining('may not connect there') });
  });

  itInFull('SB56: killed, that is reported and the next action has a new one; a restarted server goes on', async () => {
    process.kill(await program(), 'SIGKILL');
    await until('it is gone', () => programs().length === 0);
    expect((await browse('http://127.0.0.1:8080/')).content).toMatch(/^The browser had ended since the last action[^]*# Of the agent/);
    const restarted = await sandboxes.restart();
    expect(programs()).toEqual([]);
    runtime = await restarted.acquire('beside', { signal: never });
    expect((await browse('http://127.0.0.1:8080/')).content).toContain('# Of the agent');
  });

  itInFull('SB57: with the sandbox nothing of it is left', async () => {
    const { incarnation } = runtime;
    await program();
    const current = await sandboxes.restart();
    await current.acquire('beside', { signal: never }).then((again) => browse('http://127.0.0.1:8080/', again));
    await current.stop('beside');
    expect(leftOf(incarnation, sandboxes.stateRoot)).toEqual([]);
  });
});

it('RT173: without a Chromium on the host either, an error says what to do', () => {
  const program = fileURLToPath(new URL('../../../../executor/src/browser/host/main.ts', import.meta.url));
  const config = JSON.stringify({ workspace: '/nowhere', profile: '/nowhere', isSidecar: true });
  const { stdout, status } = spawnSync(process.execPath, ['--conditions=tendon-source', program, config], {
    env: { CHROMIUM_PATH: '/nowhere' },
    encoding: 'utf8',
  });
  expect([status, JSON.parse(stdout)]).toEqual([
    1,
    { type: 'failed', reason: expect.stringContaining('Neither the image of the sandbox nor the host') },
  ]);
});

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
