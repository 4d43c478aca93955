import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

const TSC = join(import.meta.dirname, '../../../node_modules/.bin/tsc');
const WAIT = { timeout: 60_000, interval: 20 };

itInFull('EX924: tendon tools writes a tool whose types hold, lists, checks and tries it, and reports what does not count', async () => {
  const place = makePlace();
  const folder = join(place.home, '.tendon/tools');
  const run = (...args: readonly string[]) => tendon(place, ['tools', ...args]);
  const path = join(folder, 'count.ts');
  expect(await run('new', 'count')).toMatchObject({ code: 0, stdout: expect.stringContaining(path) as string });
  const wrong = join(folder, 'wrong.ts');
  writeFileSync(wrong, readFileSync(path, 'utf8').replace('text.split', 'text.splat'));
  const types = spawnSync(TSC, ['--noEmit', '--strict', '--module', 'nodenext', '--ignoreConfig', path, wrong], { encoding: 'utf8' });
  expect(types.stdout.match(/error TS.*/g)).toEqual([expect.stringContaining("'splat' does not exist")]);
  expect(await run('try', 'count', '{"text": "a b c"}')).toMatchObject({ code: 0, stdout: '3 words\n' });
  const { code, stdout } = await run('list', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    tools: [{ name: 'count', file: path, read_only: true, timeout: 60 }],
    problems: [expect.stringContaining('wrong.ts does not count') as string],
  });
  expect(await run('check', path)).toMatchObject({
    code: 0,
    stdout: `count(text)\n  Counts the words of a text.\n  ${path}, only reads, 60 s at most\n`,
  });
});

/** It notes each of its calls, and waits for a program without looking at anything else. */
const PAY = `
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
export default {
  name: 'pay', description: 'Pays.',
  run() {
    process.stdin.resume();
    appendFileSync('calls', process.pid + '\\n');
    spawnSync('sleep', ['600'], { stdio: 'inherit' });
  },
};`;

it('EX926: a server that is killed during a call leaves no process of the tool, and the call is not made again', async () => {
  const place = makePlace();
  const folder = join(place.home, '.tendon/tools');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pay.ts'), PAY);
  const script = place.script([{ toolCalls: [{ name: 'pay', arguments: {} }] }, { text: 'So it is.' }]);
  const serve = async () => {
    const server = startTendon(place, ['serve', '--port', '0'], { env: { LLM_MODEL: script, RUNTIME: 'none' } });
    await server.until('workspace');
    return { server, url: /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '' };
  };
  const first = await serve();
  const body = JSON.stringify({ initial_user_msg: 'pay' });
  const made = await fetch(`${first.url}/api/conversations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { conversation_id: id } = (await made.json()) as { conversation_id: string };
  const calls = (): readonly string[] =>
    existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : [];
  await vi.waitUntil(() => calls().length === 1, WAIT);
  first.server.signal('SIGKILL');
  await first.server.ended;
  await vi.waitUntil(() => isGone(calls()[0]!), WAIT);
  const { url } = await serve();
  const events = async () => (await fetch(`${url}/api/conversations/${id}/events?limit=100`)).text();
  await vi.waitUntil(async () => (await events()).includes('So it is.'), WAIT);
  expect(await events()).toContain('its outcome was not stored');
  expect(calls()).toHaveLength(1);
});

function isGone(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return true;
  }
}
