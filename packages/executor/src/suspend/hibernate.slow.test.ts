import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
afterEach(() => executor.kill());

itInFull('SB92: it keeps running, unchanged, when the client that asked it to hibernate is gone', async () => {
  executor = await startExecutor();
  await executor.run('export STAYS=yes; mkdir inner; cd inner');
  await askAndLeave();
  expect(await firstTaken()).toBe('yes inner');
  expect(await firstTaken()).toBe('yes inner');
  expect(existsSync(join(executor.config.folders.stateDir, 'session.json'))).toBe(false);
});

it('SB92: a request while another is handled neither interrupts that nor finds the shell in use', async () => {
  executor = await startExecutor();
  await executor.run('export STAYS=yes; mkdir inner; cd inner');
  // So much to write down that the others come in the middle.
  await executor.run('for i in {1..2000}; do declare "v$i=$i"; done');
  const asked = Array.from({ length: 3 }, () => askAndLeave());
  await Promise.all(asked);
  expect(await firstTaken()).toBe('yes inner');
});

async function askAndLeave(): Promise<void> {
  const body = '{"with_kernel":true}';
  const socket = connect(executor.config.endpoint.socketPath!);
  await once(socket, 'connect');
  socket.end(`POST /sleep HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  socket.destroySoon();
}

/** What the first command says that is not refused. */
async function firstTaken(): Promise<string> {
  for (;;) {
    const last = (await executor.lines({ action: { action: 'run', args: { command: 'echo "$STAYS $(basename "$PWD")"' } } })).at(-1);
    if (last?.type === 'outcome') return last.observation.content;
    expect(last?.type).toBe('refused');
  }
}

it('SB93: it answers what keeps it from hibernating, and continues with what it had', async () => {
  executor = await startExecutor();
  await executor.run('sleep 1000 &');
  expect(JSON.parse((await executor.call('POST', '/sleep', { with_kernel: true })).body)).toEqual({
    slept: false,
    reason: expect.stringMatching(/^sleep \(\d+\) runs$/),
  });
  await executor.run('kill %1; wait');
  expect(JSON.parse((await executor.call('POST', '/sleep', { with_kernel: true })).body)).toEqual({ slept: true });
  if (executor.process.exitCode === null) await once(executor.process, 'exit');
});
