import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createRest } from '@tendon/client';
import { startGitHost } from '@tendon/testing/servers';
import { chat, DECISION, PROMPT } from './chat.test-support.ts';
import { makePlace, tendon } from './tendon-child.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

const TOKEN = 'ghp_0123456789';

it('CL960, CL964: a chat starts a server that ends by itself, asks for decisions, stops a step, and is gone on with', async () => {
  const place = makePlace();
  const model = place.script([
    bash('echo one'),
    bash('echo two'),
    { text: 'All of it.' },
    { toolCalls: [{ name: 'ask_user', arguments: { question: 'Which?', choices: ['red', 'blue'] } }] },
    bash('sleep 271814'),
    { text: 'Blue it is.' },
  ]);
  const first = chat(place, model, ['--approve=never']);
  await first.until(PROMPT);
  first.type('begin\r');
  await first.until('echo one');
  await first.until(DECISION);
  first.type('n too early\r');
  await first.until('echo two');
  await first.until(DECISION);
  first.type('e\r');
  await first.until('echo two');
  first.type(' and three\r');
  await first.until('  two and three');
  await first.until('All of it.');
  await first.until(PROMPT);
  first.type('ask me\r');
  await first.until('2. blue');
  await first.until(DECISION);
  first.type('2\r');
  await first.until('sleep 271814');
  await first.until(DECISION);
  first.type('y\r');
  await first.until('Running sleep');
  first.type('\u0003');
  await first.until('Stopped by you');
  await first.until(PROMPT);
  first.type('\u0004');
  expect(await first.ended).toBe(0);

  const second = chat(place, model, ['-c']);
  await second.until('> blue');
  await second.until('sleep 271814');
  await second.until(PROMPT);
  second.type('/cost\r');
  await second.until('tokens in');
  second.type('/quit\r');
  expect(await second.ended).toBe(0);

  const address = join(place.home, '.tendon/server.json');
  const { pid } = JSON.parse(readFileSync(address, 'utf8')) as { pid: number };
  while (existsSync(address) || existsSync(`/proc/${pid}`)) await setTimeout(100);
});

it('CL1050, CK1005: an answer decides about the action that was shown, whole, and messages typed at once are of one conversation', async () => {
  const place = makePlace();
  const model = place.script([bash('echo hi \u001b]0; ; echo hidden \r'), bash('echo second'), { text: 'All of it.' }]);
  const { type, until, pid, written } = chat(place, model, ['--approve=never']);
  await until(PROMPT);
  type('\u001b[200~begin\r\rhere\u001b[201~');
  await until('begin⏎⏎here');
  type('\rand so on\r');
  await until('echo hi ⟨U+001B⟩]0; ; echo hidden ⟨U+000D⟩');
  await until(DECISION);
  type('e\r');
  await until('edit it in the page');
  await until(DECISION);

  const { url } = JSON.parse(readFileSync(join(place.home, '.tendon/server.json'), 'utf8')) as { url: string };
  const { conversations } = createRest({ baseUrl: url, apiKey: () => undefined });
  const { results } = await conversations.list({});
  expect(results).toHaveLength(1);
  const [{ conversation_id: id }] = results as [(typeof results)[0]];
  const { events } = await conversations.events(id, { limit: 20 });
  expect(events).toContainEqual(expect.objectContaining({ args: expect.objectContaining({ content: 'begin\n\nhere' }) }));
  const { event_id } = (await conversations.question(id))!;
  process.kill(pid, 'SIGSTOP');
  await conversations.answer(id, { event_id, answer: 'approve' });
  const isSecond = async () => ((await conversations.question(id))?.event_id ?? event_id) !== event_id;
  while (!(await isSecond())) await setTimeout(50);
  type('y\r');
  process.kill(pid, 'SIGCONT');
  await until('something else waits there by now');
  const isAsked = () => written().includes('echo second') && written().lastIndexOf(DECISION) > written().lastIndexOf('echo second');
  while (!isAsked()) await setTimeout(50);
  expect(await isSecond()).toBe(true);
  expect(written()).not.toContain('All of it.');
  type('y\r');
  await until('All of it.');
  type('/quit\r');
});

it('CK1000, CK1001: /pr says what is missing and else opens one, a picture goes with the first message, and neither /new nor /quit loses it', async () => {
  const place = makePlace();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], { cwd: place.workspace });
  writeFileSync(join(place.workspace, 'shot.png'), 'no picture, which no model looks at here');
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'one');
  git('remote', 'add', 'origin', 'https://github.com/ann/tools.git');
  const model = place.script([bash('echo two > two.txt'), { text: 'All of it.' }]);
  const host = await startGitHost(TOKEN);
  onTestFinished(() => host.close());
  host.create('ann/tools', { 'a.txt': 'one' });
  const { type, until, ended } = chat(place, model, ['--image', 'shot.png'], { SANDBOX_NETWORK_ALLOW_PRIVATE: host.name });
  await until('The picture goes with your first message');
  await until(PROMPT);
  type('begin\r/new\r/quit\r');
  expect(await ended).toBe(0);
  const again = chat(place, model, ['-c']);
  await again.until('All of it.');
  await again.until(PROMPT);
  const { url } = JSON.parse(readFileSync(join(place.home, '.tendon/server.json'), 'utf8')) as { url: string };
  const { conversations } = createRest({ baseUrl: url, apiKey: () => undefined });
  const { results } = await conversations.list({});
  expect(results).toHaveLength(1);
  const { events } = await conversations.events(results[0]!.conversation_id, { limit: 50 });
  expect(events).toContainEqual(
    expect.objectContaining({ args: expect.objectContaining({ image_urls: [expect.stringContaining('data:image/png')] }) }),
  );
  again.type('/pr\r');
  await again.until('There is no token for github');
  await again.until(PROMPT);

  // From the chat to a pull request that is open: the host has the branch, the commit and what was asked for.
  git('remote', 'set-url', 'origin', `http://${host.name}/ann/tools.git`);
  const body = JSON.stringify({ provider_tokens: { github: { token: TOKEN, host: `http://${host.name}` } } });
  const stored = await fetch(`${url}/api/add-git-providers`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(stored.status).toBe(200);
  again.type('/pr Add two\r');
  await again.until('make the branch tendon/add-two');
  await again.until('open a pull request into main: Add two');
  await again.until('[y] do it');
  expect(host.pulls).toEqual([]);
  again.type('y\r');
  await again.until(`The pull request is open: http://${host.name}/ann/tools/pull/1`);
  expect(host.pulls).toMatchObject([{ head: 'tendon/add-two', base: 'main', title: 'Add two' }]);
  expect(host.git('ann/tools', 'log', '-1', '--format=%s', '--name-only', 'tendon/add-two')).toBe('Add two\n\ntwo.txt');
  again.type('/quit\r');
});

it('CK1009: on a fresh home /setup leads to a model, and the key is not shown', async () => {
  const place = makePlace();
  const { type, until, written } = chat(place, undefined);
  await until('No model is set up yet: /setup');
  await until(PROMPT);
  type('/setup\r');
  await until('Which model?');
  type('scripted/none\r');
  await until('API key?');
  await until('? ');
  type('sk-marmalade\r');
  await until('address of its endpoint?');
  type('\r');
  await until('It is stored');
  await until(PROMPT);
  type('\u001b[A\u001b[A\u001b[A');
  await until('> /setup');
  const { url } = JSON.parse(readFileSync(join(place.home, '.tendon/server.json'), 'utf8')) as { url: string };
  const settings = await createRest({ baseUrl: url, apiKey: () => undefined }).settings.get();
  expect(settings).toMatchObject({ llm_model: 'scripted/none', llm_api_key_set: true });
  expect(written()).not.toContain('marmalade');
  type('\u0015/quit\r');
});

it('CL964, CK1010: an answer that is none is met with those there are; what happens while the agent rests gives the prompt back', async () => {
  const place = makePlace();
  const model = place.script([bash('echo one'), { text: 'All of it.' }, { text: 'It was short.' }]);
  const { type, until, ended } = chat(place, model, ['--approve=never']);
  await until(PROMPT);
  type('begin\r');
  await until('[y] approve');
  await until(DECISION);
  type('x\r');
  await until('[y] approve');
  await until(DECISION);
  type('y\r');
  await until('All of it.');
  await until(PROMPT);
  type('/compact\r');
  await until('Shortened the history');
  await until(PROMPT);
  type('/quit\r');
  expect(await ended).toBe(0);
});

it('CK1011: /undo takes back the last message with the files it changed, and the one before when it is called again', async () => {
  const place = makePlace();
  const model = place.script([bash('true'), { text: 'Looked.' }, bash('echo 1 > made'), { text: 'Made.' }]);
  const { type, until, ended, written } = chat(place, model);
  await until(PROMPT);
  type('look\r');
  await until('Looked.');
  await until(PROMPT);
  type('make\r');
  await until('Made.');
  await until(PROMPT);
  expect(existsSync(join(place.workspace, 'made'))).toBe(true);
  type('/undo\r');
  await until('Undone: 1 file is as before your last message, which the agent no longer knows.');
  await until(PROMPT);
  expect(existsSync(join(place.workspace, 'made'))).toBe(false);
  // The model is shown what it was before the message: the script goes on from there.
  type('make it now\r');
  await until('Made.');
  await until(PROMPT);
  expect(existsSync(join(place.workspace, 'made'))).toBe(true);
  type('/undo\r');
  await until('Undone: 1 file');
  await until(PROMPT);
  type('/undo\r');
  await until('Undone: no file had changed; the agent no longer knows your last message.');
  await until(PROMPT);
  type('/undo\r');
  await until('There is no message to take back.');
  await until(PROMPT);
  // No answer stands behind a prompt.
  for (const words of ['Undone', 'There']) expect(written()).not.toContain(`> \u001b[3G${words}`);
  type('look again\r');
  await until('Looked.');
  type('/quit\r');
  expect(await ended).toBe(0);
});

it('CL960: without a terminal there is no chat', async () => {
  expect(await tendon(makePlace(), [])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('There is no task') });
});

it('CL964, CK1007: a decision that a task needed is taken in a chat', async () => {
  const place = makePlace();
  const model = place.script([bash('echo one'), { text: 'All of it.' }]);
  const asked = await tendon(place, ['--approve=never', '--json', '-p', 'begin'], { env: { LLM_MODEL: model } });
  expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining('$ echo one') });
  const { conversation_id: id } = JSON.parse(asked.stdout) as { conversation_id: string };
  const taken = chat(place, model, ['-r', id.slice(0, 12)]);
  await taken.until('Run this command?');
  await taken.until(DECISION);
  taken.type('y\r');
  await taken.until('All of it.');
  await taken.until(PROMPT);
  taken.type('/quit\r');
  expect(await taken.ended).toBe(0);
});
