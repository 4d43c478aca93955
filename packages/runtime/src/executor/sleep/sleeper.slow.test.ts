import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
afterEach(() => executor.kill());

it('SB92: it stays awake, as it was, when who asked it to sleep is gone', async () => {
  executor = await startExecutor();
  await executor.run('export KEPT=yes; mkdir inner; cd inner');
  const body = '{"with_kernel":true}';
  const socket = connect(executor.config.socketPath!);
  await once(socket, 'connect');
  socket.end(`POST /sleep HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  socket.destroySoon();
  const said = async (): Promise<string> => (await executor.run('echo "$KEPT $(basename "$PWD")"').catch(() => undefined))?.content ?? '';
  await expect.poll(said).toBe('yes inner');
  expect(await said()).toBe('yes inner');
  expect(existsSync(join(executor.config.stateDir, 'session.json'))).toBe(false);
});

it('SB93: it says what keeps it awake, and goes on with what it had', async () => {
  executor = await startExecutor();
  await executor.run('sleep 1000 &');
  expect(JSON.parse((await executor.call('POST', '/sleep', { with_kernel: true })).body)).toEqual({
    slept: false,
    reason: expect.stringMatching(/^sleep \(\d+\) runs$/),
  });
  await executor.run('kill %1');
  expect(JSON.parse((await executor.call('POST', '/sleep', { with_kernel: true })).body)).toEqual({ slept: true });
  if (executor.process.exitCode === null) await once(executor.process, 'exit');
});
