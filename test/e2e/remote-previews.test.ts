/** From a browser through a whole server and another host to a program in a sandbox there. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { itInFull } from '@tendon/testing';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { executorFolder } from '@tendon/runtime/testing';
import { socketIoClient } from '../../packages/server/src/server.test-support.ts';
import { ask, open, preview } from './open-preview.ts';

describe('previews of sandboxes on another host', () => {
  let host: ExecutorHostProcess;
  beforeAll(async () => {
    executorFolder();
    host = await ExecutorHostProcess.start({ ownWorkspaces: true });
  });
  afterAll(() => host.remove());
  const remote = () => preview({ env: host.serverEnvironment });

  it('SB155: pages, bodies in both directions and streams pass, for who has the cookie only', async () => {
    const { server, id, link, port, cookie, get } = await remote();
    expect(link.hostname).toMatch(new RegExp(`^${port}-[0-9a-f]{32}\\.localhost$`));
    expect((await get('/deep?x=1')).body).toBe('page /deep?x=1');
    expect((await ask(server, link.host, '/', {})).status).toBe(401);
    const body = randomBytes(3_000_000);
    const hash = createHash('sha256').update(body).digest('hex');
    expect((await get('/', {}, { method: 'POST', body })).body).toBe(hash);
    expect((await get('/', {}, { method: 'POST', body: [body.subarray(0, 1_000_000), body.subarray(1_000_000)] })).body).toBe(hash);
    const events = await open(server, link.host, '/events', { cookie });
    expect(String((await once(events, 'data'))[0])).toBe('data: first\n\n');
    const cut = once(events, 'error');
    events.resume();
    await server.engine.runtimes.stop(id);
    await cut;
    expect((await get('/')).status).toBe(503);
  });

  itInFull('SB155: a WebSocket passes, from the preview’s own page and with its cookie only', async () => {
    const { link, cookie } = await remote();
    const connect = (headers: Record<string, string>) =>
      new WebSocket(`ws://127.0.0.1:${link.port}/ws`, { headers: { host: link.host, ...headers } });
    const socket = connect({ cookie, origin: `http://${link.host}` });
    await once(socket, 'open');
    for (const word of ['one', 'two']) {
      socket.send(word);
      expect(String((await once(socket, 'message'))[0])).toBe(word);
    }
    for (const [headers, status] of [
      [{ cookie, origin: 'http://evil.example' }, 403],
      [{ origin: `http://${link.host}` }, 401],
    ] as const) {
      expect(((await once(connect(headers), 'error')) as [Error])[0].message).toContain(String(status));
    }
    const closed = once(socket, 'close');
    await host.kill();
    await closed;
    await host.start();
  });

  itInFull(
    'SB155: clients are notified of what is served; it is in reach again when the host’s program was killed and came back',
    async () => {
      const { server, id, port, get, inside } = await remote();
      const { volatile } = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
      /** In a frame that comes after so many. */
      const reported = (isThere: boolean, after: number) =>
        volatile.until(
          (frame) =>
            frame.volatile === 'ports' &&
            volatile.all.indexOf(frame) >= after &&
            (frame.ports as readonly { port: number }[]).some((each) => each.port === port) === isThere,
        );
      await reported(true, 0);
      await host.kill();
      expect((await get('/')).status).toBeGreaterThanOrEqual(500);
      await host.start();
      await expect.poll(async () => (await get('/again')).body).toBe('page /again');
      const gone = reported(false, volatile.all.length);
      await inside('pkill -f program.py');
      await gone;
      await expect.poll(async () => (await get('/', { accept: 'text/html' })).body).toMatch(/Nothing listens on port/);
    },
  );
});
