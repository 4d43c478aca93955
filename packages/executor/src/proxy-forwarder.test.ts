import { createServer } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startExecutor } from './testing/start-executor.ts';

it('RT80: what runs inside finds the proxy in its environment, and loopback goes past it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-proxy-'));
  const proxySocketPath = join(folder, 'proxy.sock');
  const proxy = createServer((request, response) => response.end(`asked for ${request.url}`));
  await new Promise<void>((resolve) => proxy.listen(proxySocketPath, resolve));
  const executor = await startExecutor({ network: { proxySocketPath } });
  onTestFinished(async () => {
    await executor.kill();
    proxy.close();
    rmSync(folder, { recursive: true, force: true });
  });
  expect(await executor.run('curl -sS http://example.test/x')).toMatchObject({ content: 'asked for http://example.test/x' });
  expect(await executor.run('echo "$no_proxy"')).toMatchObject({ content: expect.stringContaining('127.0.0.1') });
  expect(await executor.run('echo "$HTTPS_PROXY"')).toMatchObject({ content: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
});
