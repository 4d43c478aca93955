import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chat, PROMPT } from './chat.test-support.ts';
import { endServers, makePlace, serversOf, startTendon } from './tendon-child.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

it('CL1052: a chat whose server is away says so and when it is back, at another address too; what is typed stays, Ctrl-C stops then or leaves', async () => {
  const place = makePlace();
  const model = place.script([{ text: 'Hello.' }, bash('sleep 271816'), { text: 'And on.' }]);
  const serve = async () => {
    const server = startTendon(place, ['serve', '--port', '0', '-m', model]);
    await server.until('workspace');
    return server;
  };
  const first = await serve();
  const { type, until, ended } = chat(place, model);
  await until(PROMPT);
  type('begin\r');
  await until('Hello.');
  await until(PROMPT);
  type('go on');
  first.signal('SIGKILL');
  await until('The server is away; reconnecting.');
  await until(`${PROMPT}go on`);
  const second = await serve();
  await until('The server is back.');
  await until(`${PROMPT}go on`);
  type('\r');
  await until('Running sleep 271816');
  second.signal('SIGKILL');
  await until('Reconnecting to the server');
  type('\u0003');
  await until('The agent is asked to stop when the server is back; once more leaves');
  const third = await serve();
  await until('The server is back.');
  await until('Stopped by you');
  await until(PROMPT);
  type('and?\r');
  await until('And on.');
  await until(PROMPT);
  third.signal('SIGKILL');
  await until('The server is away; reconnecting.');
  await until(PROMPT);
  type('\u0003\u0003');
  expect(await ended).toBe(0);
});

it('CL1052: a server that a chat started is started again, whether it was killed or had ended before the first message', async () => {
  const place = makePlace();
  const { type, until, ended } = chat(place, place.script([{ text: 'Hello.' }, { text: 'Still here.' }]));
  const end = async (signal: NodeJS.Signals) => {
    const { pid } = JSON.parse(readFileSync(join(place.home, '.tendon/server.json'), 'utf8')) as { pid: number };
    process.kill(pid, signal);
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  };
  await until(PROMPT);
  await end('SIGTERM');
  type('begin\r');
  await until('Hello.');
  await until(PROMPT);
  await end('SIGKILL');
  await until('The server is back.');
  await until(PROMPT);
  type('and now?\r');
  await until('Still here.');
  await until(PROMPT);
  type('/quit\r');
  expect(await ended).toBe(0);
});

it('CL960: the server that a chat is starting is found by its home before it has written its address', async () => {
  const place = makePlace();
  const home = join(place.home, '.tendon');
  chat(place, place.script([]));
  await expect.poll(() => serversOf(home), { interval: 5 }).not.toEqual([]);
  await endServers(home);
  expect(serversOf(home)).toEqual([]);
});
