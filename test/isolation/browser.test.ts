import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { ACTIONS, type ObservationDraft } from '@tendon/protocol';
import { createLocalDriver } from '@tendon/runtime';
import {
  anchorOf,
  createTestSandboxes,
  executorFolder,
  leftOf,
  never,
  observe,
  run,
  type TestSandboxes,
  until,
} from '@tendon/runtime/testing';

type Page = ObservationDraft<'browse'>;

/** The built browser in the real sandbox, where a page tries what it must not. */
describe('a page in the local sandbox', () => {
  const asked: string[] = [];
  const host = createServer((request, response) => {
    asked.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
    response.setHeader('access-control-allow-origin', '*');
    response.end('the host answers');
  });
  let port = 0;
  let sandboxes: TestSandboxes;
  let runtime: Runtime;

  beforeAll(async () => {
    await once(host.listen(0), 'listening');
    host.on('upgrade', (request, socket) => {
      asked.push(`upgrade ${request.url ?? ''}`);
      socket.destroy();
    });
    port = (host.address() as AddressInfo).port;
    sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
    runtime = await sandboxes.runtimes.acquire('page', { signal: never });
    writeFileSync(join(sandboxes.workspace, 'index.html'), '<title>Mine</title><h1>The agent’s own server</h1>');
    writeFileSync(
      join(sandboxes.workspace, 'serve.mjs'),
      `import { createServer } from 'node:http'; import { readFileSync } from 'node:fs';
      createServer((request, response) => {
        const to = new URL(request.url, 'http://x').searchParams.get('to');
        if (to) return response.writeHead(302, { location: to }).end();
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(readFileSync('index.html'));
      }).listen(8123, '127.0.0.1', () => console.log('listening'));`,
    );
    await run(runtime, 'node serve.mjs > serve.log 2>&1 & until grep -q listening serve.log; do :; done');
  });
  afterAll(async () => {
    await sandboxes?.close();
    host.close();
  });

  async function browse(url: string): Promise<Page> {
    const seen = await observe(runtime, ACTIONS.browse.create({ url }));
    if (seen.observation !== 'browse') throw new Error(JSON.stringify(seen).slice(0, 2000));
    return seen;
  }

  const hostAddresses = (): readonly string[] => [
    ...Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
    ),
    hostname(),
  ];

  it('SB411: RT158: the agent’s own servers are reached directly, and Chromium keeps its own sandbox, out of the agent’s sight', async () => {
    const { content, extras } = await browse('localhost:8123');
    expect(content).toContain('The agent’s own server');
    expect(extras.status_code).toBe(200);
    const arguments_ = await chromium();
    expect(arguments_).toContain('--proxy-server=http://127.0.0.1:');
    expect(arguments_).not.toContain('--no-sandbox');
    expect((await run(runtime, 'unshare --user true; pgrep -fc chrom')).output).toMatch(/No space left on device\s+0$/);
  });

  /** As the host sees it: what runs inside does not (SB411). */
  async function chromium(): Promise<string> {
    const { pid } = anchorOf(await sandboxes.handle('page'));
    const network = (of: string | number) => readlinkSync(`/proc/${of}/ns/net`);
    for (const each of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const words = readFileSync(`/proc/${each}/cmdline`, 'utf8').replaceAll('\0', ' ');
        if (/^\S*chrom.*--remote-debugging-pipe/.test(words) && network(each) === network(pid)) return words;
      } catch {
        // gone meanwhile
      }
    }
    throw new Error('no Chromium runs there');
  }

  itInFull('RT158: no service of the host answers: by address, name, redirect, fetch, picture or WebSocket', async () => {
    for (const address of hostAddresses()) {
      const target = `${address}:${port}`;
      const direct = await browse(`http://${target}/`);
      const redirected = await browse(`http://localhost:8123/?to=${encodeURIComponent(`http://${target}/redirected`)}`);
      for (const { content, extras } of [direct, redirected]) {
        expect(content).not.toContain('the host answers');
        expect(extras.error || content.includes('may not connect') || content.includes('not_here'), `${target}: ${content}`).toBe(true);
      }
      writeFileSync(
        join(sandboxes.workspace, 'index.html'),
        `<p id=p></p><script>
        const show = (text) => (p.textContent += text + ' ');
        const tries = [
          fetch('http://${target}/fetch').then((r) => r.text()).then((t) => show('fetch: ' + t), () => show('fetch: failed')),
          new Promise((done) => { const s = new WebSocket('ws://${target}/socket'); s.onopen = () => done(show('socket: open')); s.onerror = () => done(show('socket: failed')); }),
          new Promise((done) => { const i = new Image(); i.onload = i.onerror = done; i.src = 'http://${target}/image'; }),
        ];
        Promise.all(tries).then(() => show('done'));</script>`,
      );
      const { content } = await browse('http://localhost:8123/');
      expect(content).toMatch(/socket: failed/);
      expect(content).not.toContain('the host answers');
    }
    expect(asked).toEqual([]);
  });

  itInFull('RT158: private and metadata addresses are refused in words', async () => {
    for (const address of ['10.0.0.1', '192.168.0.1', '169.254.169.254', '[fd00::1]', 'metadata.google.internal']) {
      const { extras } = await browse(`http://${address}/`);
      expect([address, extras.error]).toEqual([address, true]);
      expect(extras.last_browser_action_error).toMatch(/may not connect|could not connect|has no way there|has no address/);
    }
  });

  itInFull('RT156: with the sandbox everything of the browser is gone', async () => {
    expect((await browse('http://localhost:8123/')).extras.error).toBe(false);
    const { incarnation } = runtime;
    await sandboxes.runtimes.stop('page');
    await until('nothing of the sandbox is left', () => leftOf(incarnation, sandboxes.stateRoot).length === 0);
  });
});
