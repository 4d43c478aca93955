import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openChromium } from '../../packages/executor/src/browser/host/open-chromium.ts';
import { createProxy } from '@tendon/runtime/testing';

it('SB355: the sandbox’s own Chromium names its hosts in the open', async () => {
  const hellos: Buffer[] = [];
  const site = createServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', (bytes: Buffer) => {
        hellos.push(bytes);
        socket.destroy();
      }),
  );
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const refused: string[] = [];
  const { server, close } = createProxy({
    async dial(host) {
      if (host !== 'listed.example') throw new Error('Chromium asks for its own');
      const socket = connect((site.address() as AddressInfo).port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    },
    hold: {
      applies: async () => true,
      onRefused: (host, port, reason) => void refused.push(`${host}:${port} ${reason}`),
    },
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const profile = mkdtempSync(join(tmpdir(), 'tendon-profile-'));
  const proxyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { context } = await openChromium({ workspace: profile, profile, proxyUrl });
  try {
    const page = await context.newPage();
    await page.goto('https://listed.example/').catch(() => undefined);
    expect(hellos[0]?.includes('listed.example')).toBe(true);
    expect(refused).toEqual([]);
  } finally {
    await context.close();
    close();
    server.close();
    site.close();
    rmSync(profile, { recursive: true, force: true });
  }
});
