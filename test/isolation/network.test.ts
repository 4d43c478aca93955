import { lookup } from 'node:dns/promises';
import { expect, it, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { createLocalDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, never, run, startResolver } from '@tendon/runtime/testing';
import { describeEgress } from './network/contract.ts';

describeEgress('local', { make: () => createLocalDriver({ executor: executorFolder() }) }, (under) => {
  it('SB73, SB72, SV1030: a place that was opened answers, from the next connection on and no longer than that, and it is known that it was reached', async () => {
    const { inside, sandboxes, service, setPolicy } = under();
    const get = () => inside(`curl -sS -m 20 --noproxy '' http://${service}/`);
    for (const mode of ['allowlist', 'full'] as const) {
      await setPolicy({ mode, allowPrivate: [] });
      expect((await get()).output).toContain('may not connect');
      await setPolicy({ mode, allowPrivate: [service] });
      expect((await get()).output).toBe('the host answers');
    }
    await setPolicy({ mode: 'none', allowPrivate: [service] });
    expect((await get()).output).toContain('no network');
    const reached = async () => (await sandboxes.runtimes.reachedHosts('network')).find(({ host, port }) => `${host}:${port}` === service);
    expect(await reached()).toMatchObject({ count: 2, times: [expect.any(Number), expect.any(Number)] });
    await vi.waitFor(async () => expect((await reached())!.bytesIn).toBeGreaterThan(20), { timeout: 14_000 });
  });

  it('SB74: a refusal is logged once', async () => {
    const { inside, sandboxes, setPolicy } = under();
    await setPolicy({ mode: 'none' });
    for (let time = 0; time < 3; time += 1) await inside('curl -sS -m 20 http://refused.example/');
    expect(sandboxes.notices.filter((notice) => notice.includes('refused.example'))).toHaveLength(1);
  });
});

itInFull('SB340: a sandbox that asks for names without an answer takes them away from nobody', async () => {
  const resolver = await startResolver({ 'known.example': ['127.0.0.1'] });
  const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }), { nameServers: resolver.servers });
  try {
    const hostile = await sandboxes.runtimes.acquire('hostile', { signal: never });
    const neighbour = await sandboxes.runtimes.acquire('neighbour', { signal: never });
    const flood = `
import os, socket, signal
from urllib.parse import urlsplit
proxy = urlsplit(os.environ['http_proxy'])
peers = [socket.create_connection((proxy.hostname, proxy.port)) for _ in range(200)]
for number, peer in enumerate(peers): peer.sendall(f'CONNECT n{number}.slow.example:443 HTTP/1.1\\r\\n\\r\\n'.encode())
signal.pause()`;
    await run(hostile, `cat > flood.py <<'END'${flood}\nEND\nsetsid python3 flood.py < /dev/null > /dev/null 2>&1 &`);
    await vi.waitFor(() => expect(new Set(resolver.asked).size).toBe(8), { timeout: 90_000, interval: 50 });
    const answer = await run(neighbour, "curl -sS -m 30 --noproxy '' http://known.example/");
    expect(answer.output).toContain('the address is loopback');
    expect((await lookup('localhost')).address).toMatch(/^(127\.|::1)/);
    expect((await run(hostile, "curl -sS -m 30 --noproxy '' http://one-more.example/")).output).toMatch(/name/);
  } finally {
    await sandboxes.close();
    resolver.close();
  }
});
