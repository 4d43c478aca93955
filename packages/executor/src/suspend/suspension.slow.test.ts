import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { SUSPENDED_NAME } from '@tendon/protocol/executor-api';
import { allProcesses, processStat } from '../processes/process-tree.ts';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
beforeEach(async () => {
  executor = await startExecutor();
});
afterEach(() => executor.kill());

const ask = async (): Promise<object> => JSON.parse((await executor.call('POST', '/sleep', { in_place: true })).body) as object;
const untilSuspended = (): Promise<void> => expect.poll(ask).toEqual({ slept: true });
const name = (): string => readFileSync(`/proc/${executor.process.pid}/comm`, 'utf8').trim();
/** As the host's process table has them; by a number that nothing else here has. */
const statesOf = (mark: string): readonly string[] =>
  allProcesses()
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(mark))
    .flatMap((pid) => processStat(pid)?.state ?? []);

it('SB130: it is suspended with all that it started, and the next action resumes it where it was', async () => {
  const usual = name();
  await executor.run(
    'mkfifo pipe; mkdir inner; cd inner; export STAYS=yes; variable=too; (read -r line < ../pipe; echo "$line" > ../got) &',
  );
  await executor.run(`setsid sleep 98765.${process.pid} & disown`);
  await untilSuspended();
  expect(name()).toBe(SUSPENDED_NAME);
  expect(statesOf(`98765.${process.pid}`)).toEqual(['T']);
  expect(await executor.call('GET', '/alive')).toMatchObject({ status: 200 });
  expect(await ask()).toEqual({ slept: true });
  const seen = await executor.run('echo "$STAYS $variable $(basename "$PWD") $(jobs -r | wc -l)"; echo heard > ../pipe; wait; cat ../got');
  expect(seen.content).toMatch(/^yes too inner 1\r?\n[^]*heard$/);
  await expect.poll(() => statesOf(`98765.${process.pid}`)).toEqual(['S']);
  expect(name()).toBe(usual);
});

itInFull('SB130: a program in the foreground and one that was stopped by hand are as they were', async () => {
  await executor.run(`sleep 87654.${process.pid}`, {}, 0.5); // handed back as still running
  await expect.poll(() => statesOf(`87654.${process.pid}`)).toEqual(['S']);
  await untilSuspended();
  expect((await executor.run('C-z', { is_input: true })).content).toContain('Stopped');
  await untilSuspended();
  expect((await executor.run('jobs -s | wc -l')).content).toBe('1');
  expect(statesOf(`87654.${process.pid}`)).toEqual(['T']);
  expect((await executor.run('kill %1; wait; echo over')).content).toContain('over');
});

it('SB131: what works, is used or is looked at for the first time is not suspended, and it answers why', async () => {
  expect(await ask()).toEqual({ slept: false, reason: expect.stringMatching(/begun|being looked at|works/) });
  await executor.run('(while :; do :; done) & until test -e done; do sleep 0.02; done &');
  await expect.poll(ask).toEqual({ slept: false, reason: expect.stringMatching(/^bash \(\d+\) works$/) });
  await executor.run('kill %1; touch done; wait');
  const running = executor.run('until test -e go; do sleep 0.02; done');
  await expect.poll(ask).toEqual({ slept: false, reason: 'an action runs' });
  await executor.call('PUT', '/files?path=go', 'x');
  await running;
  await untilSuspended();
});

itInFull('SB131: a connection to one of its ports resumes it and keeps it running', async () => {
  await executor.run(`python3 -m http.server 0 --bind 127.0.0.1 > served 2>&1 &`);
  const port = await portOf();
  await untilSuspended();
  const socket = connect(executor.config.endpoint.socketPath!);
  socket.write(`GET /tunnel/${port} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1.1 101 /);
  await expect.poll(ask).toEqual({ slept: false, reason: 'somebody is connected to one of its ports' });
  socket.destroy();
  await untilSuspended();
});

itInFull('SB132: suspended, it ends by its lease', async () => {
  await executor.kill();
  executor = await startExecutor({ limits: { leaseSeconds: 3 } });
  await executor.run(`sleep 76543.${process.pid} &`);
  await untilSuspended();
  if (executor.process.exitCode === null) await once(executor.process, 'exit');
  await expect.poll(() => statesOf(`76543.${process.pid}`)).toEqual([]);
});

async function portOf(): Promise<number> {
  const served = async (): Promise<number> =>
    (JSON.parse((await executor.call('GET', '/ports')).body) as { ports: { port: number }[] }).ports[0]?.port ?? 0;
  await expect.poll(served).toBeGreaterThan(0);
  return served();
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return ''; // gone
  }
}
