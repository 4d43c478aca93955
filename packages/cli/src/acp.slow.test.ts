import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import * as draft from '@agentclientprotocol/sdk/experimental/v2';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull, Seen, waitFor } from '@tendon/testing';
import { builtTendon } from '@tendon/testing/servers';
import { makePlace, startTendon } from './tendon-child.test-support.ts';

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });

it('CL968, CL969, CK1008, CK1040, CK1041, CK1043: an editor makes sessions, sees words, calls, diffs and plans, is asked, cancels and loads', async () => {
  const place = makePlace();
  writeFileSync(join(place.workspace, 'a.txt'), 'old\n');
  const model = place.script([
    {
      text: 'I change it.',
      ...call('str_replace_editor', { command: 'str_replace', path: '/workspace/a.txt', old_str: 'old', new_str: 'new' }),
    },
    call('execute_bash', { command: 'git push' }),
    call('execute_bash', { command: 'sleep 271815' }),
  ]);
  const server = startTendon(place, ['serve', '--port', '0', '-m', model], { env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  await server.until('workspace');
  const child = spawn(process.execPath, [builtTendon(), 'acp'], {
    env: { PATH: process.env.PATH, HOME: place.home, TENDON_HOME: join(place.home, '.tendon') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const updates = new Seen<SessionUpdate>();
  const asked: RequestPermissionRequest[] = [];
  const answers = ['once', 'reject', 'once'];
  const editor = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params: { update } }) => updates.take(update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: 'selected', optionId: answers[asked.length - 1]! } };
    });
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const connection = editor.connect(stream);
  const { agent } = connection;
  const about = await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  expect(about).toMatchObject({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: { loadSession: true } });

  const { sessionId, modes, configOptions } = await agent.request(methods.agent.session.new, { cwd: place.workspace, mcpServers: [] });
  expect(modes?.availableModes.map(({ id }) => id)).toContain(modes?.currentModeId);
  expect(configOptions).toMatchObject([
    { id: 'agent', category: 'mode', currentValue: modes?.currentModeId },
    { id: 'model', category: 'model' },
    { id: 'approvals', currentValue: 'usual' },
  ]);
  const ask = (text: string) => agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  expect(await ask('change it')).toEqual({ stopReason: 'end_turn' });
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('new\n');
  const diff = { type: 'diff', path: join(place.workspace, 'a.txt'), oldText: 'old\n', newText: 'new\n' };
  expect(updates.all).toContainEqual(expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed', content: [diff] }));
  expect(asked[1]).toMatchObject({
    toolCall: { rawInput: { command: 'git push' } },
    options: [{ kind: 'allow_once' }, {}, { kind: 'reject_once' }],
  });
  const words = (all: readonly SessionUpdate[], kind: string) =>
    all.flatMap((each) =>
      each.sessionUpdate === kind && 'content' in each && each.content && 'text' in each.content ? [each.content.text] : [],
    );
  expect(words(updates.all, 'agent_message_chunk').join('')).toBe('I change it.');

  const advertised = await updates.until((each) => each.sessionUpdate === 'available_commands_update');
  expect(advertised).toMatchObject({
    availableCommands: [{ name: 'undo' }, { name: 'model', input: { hint: 'its name' } }, {}, {}, {}, {}, {}],
  });
  updates.all.length = 0;
  expect(await ask('/cost')).toEqual({ stopReason: 'end_turn' });
  expect(words(updates.all, 'agent_message_chunk').join('')).toContain('tokens in');

  const answerTo = async (text: string): Promise<string> => {
    updates.all.length = 0;
    await ask(text);
    return words(updates.all, 'agent_message_chunk').join('');
  };
  expect(await answerTo('/approvals')).toContain('What no rule allows waits for you, as the server was started.');
  expect(await answerTo('/approvals risk llm')).toContain(
    'What is risky waits for you, chosen for this conversation; llm judges it, chosen for this conversation.',
  );
  for (const wrong of ['sometimes', 'always llm', 'risk nobody']) expect(await answerTo(`/approvals ${wrong}`)).toMatch(/^Choose|one of/);
  // The same as options: an editor is sent what a command chose, and chooses.
  const judged = { configOptions: [{}, {}, { id: 'approvals', currentValue: 'risk' }, { id: 'analyzer', currentValue: 'llm' }] };
  expect(updates.all).toContainEqual(expect.objectContaining({ sessionUpdate: 'config_option_update' }));
  const choose = (configId: string, value: string) => agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
  expect(await choose('analyzer', 'llm')).toMatchObject(judged);
  await expect(choose('approvals', 'sometimes')).rejects.toThrow('usual, always');
  expect((await choose('approvals', 'usual')).configOptions).toHaveLength(3);
  expect(await answerTo('/approvals')).toContain('What no rule allows waits for you, as the server was started.');

  const waiting = ask('go on');
  await updates.until((each) => each.sessionUpdate === 'tool_call' && each.title === 'sleep 271815');
  await updates.until((each) => each.sessionUpdate === 'tool_call_update' && each.status === 'in_progress' && asked.length === 3);
  await agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await waiting).toEqual({ stopReason: 'cancelled' });

  updates.all.length = 0;
  await agent.request(methods.agent.session.load, { sessionId, cwd: place.workspace, mcpServers: [] });
  expect(words(updates.all, 'user_message_chunk')).toEqual(['change it', 'go on']);
  const { sessions } = await agent.request(methods.agent.session.list, { cwd: place.workspace });
  expect(sessions.map((each) => each.sessionId)).toEqual([sessionId]);
  const other = await agent.request(methods.agent.session.new, { cwd: place.workspace, mcpServers: [] });
  for (const _again of [1, 2]) await agent.request(methods.agent.session.delete, { sessionId: other.sessionId });
  expect((await agent.request(methods.agent.session.list, { cwd: place.workspace })).sessions).toHaveLength(1);

  // Taken up again without its history, and then without a server: its prompts end, those that come and the one that is there.
  updates.all.length = 0;
  await agent.request(methods.agent.session.resume, { sessionId, cwd: place.workspace, mcpServers: [] });
  expect(words(updates.all, 'agent_message_chunk')).toEqual([]);
  server.signal('SIGKILL');
  await server.ended;
  await expect(ask('is anybody there?')).rejects.toThrow('cannot be reached');
  await expect(ask('and now?')).rejects.toThrow('cannot be reached');
  connection.close();
  child.stdin.end();
  expect(await waitFor(ended, () => 'the end of tendon acp')).toEqual([0, null]);
});

itInFull('CK1002, CK1041: an editor that asks for version 2 gets its draft: states, messages, patches, options', async () => {
  const place = makePlace();
  writeFileSync(join(place.workspace, 'a.txt'), 'old\n');
  const edit = { command: 'str_replace', path: '/workspace/a.txt', old_str: 'old', new_str: 'new' };
  const model = place.script([
    { text: 'I change it.', ...call('str_replace_editor', edit) },
    { text: 'Done.' },
    { text: 'I look.', ...call('execute_bash', { command: 'true' }) },
    { text: 'Well.' },
  ]);
  const server = startTendon(place, ['serve', '--port', '0', '-m', model], { env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  await server.until('workspace');
  const child = spawn(process.execPath, [builtTendon(), 'acp'], {
    env: { PATH: process.env.PATH, HOME: place.home, TENDON_HOME: join(place.home, '.tendon') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const updates = new Seen<draft.SessionUpdate>();
  const asked: draft.RequestPermissionRequest[] = [];
  const connection = draft
    .client({ name: 'editor' })
    .onNotification(draft.methods.client.session.update, ({ params: { update } }) => updates.take(update))
    .onRequest(draft.methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      if (asked.length === 2) return new Promise(() => undefined);
      if (asked.length > 2) return { outcome: { outcome: 'selected', optionId: 'once' } };
      // Refused, it changes nothing of what is shown of the first one.
      await expect(say('and more')).rejects.toThrow('another prompt');
      return { outcome: { outcome: 'selected', optionId: 'once' } };
    })
    .connect(
      draft.ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  const { agent } = connection;
  const say = (text: string) => agent.request(draft.methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  const about = await agent.request(draft.methods.agent.initialize, { protocolVersion: 99, info: { name: 'editor', version: '1' } });
  expect(about.protocolVersion).toBe(draft.PROTOCOL_VERSION);
  const { sessionId, configOptions } = await agent.request(draft.methods.agent.session.new, { cwd: place.workspace });
  expect(configOptions).toMatchObject([
    { configId: 'agent', category: 'mode' },
    { configId: 'model', category: 'model' },
    { configId: 'approvals', currentValue: 'usual' },
  ]);
  const advertised = await updates.until((each) => each.sessionUpdate === 'available_commands_update');
  expect(advertised).toMatchObject({
    availableCommands: expect.arrayContaining([expect.objectContaining({ type: 'command', name: 'undo' })]),
  });
  await say('change it');
  await updates.until((each) => each.sessionUpdate === 'state_update' && each.state === 'idle');
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('new\n');
  expect(asked).toMatchObject([{ title: 'Change /workspace/a.txt?', subject: { type: 'tool_call' } }]);
  const states = updates.all.flatMap((each) => (each.sessionUpdate === 'state_update' && 'state' in each ? [each.state] : []));
  expect(states).toEqual(['running', 'requires_action', 'running', 'idle']);
  expect(updates.all.filter(({ sessionUpdate }) => sessionUpdate === 'user_message')).toHaveLength(1);
  const path = join(place.workspace, 'a.txt');
  const text = `diff --git a${path} b${path}\n--- a${path}\n+++ b${path}\n@@ -1,1 +1,1 @@\n-old\n+new\n`;
  const diff = { type: 'diff', changes: [{ operation: 'modify', path }], patch: { format: 'git_patch', text } };
  expect(updates.all).toContainEqual(expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed', content: [diff] }));
  const options = { sessionId, type: 'id', configId: 'agent', value: 'ExploreAgent' } as const;
  const set = await agent.request(draft.methods.agent.session.setConfigOption, options);
  expect(set.configOptions[0]).toMatchObject({ currentValue: 'ExploreAgent' });

  // One that is at work when it is taken up again is reported as what it is, until it rests.
  await say('and now?');
  await expect.poll(() => asked.length).toBe(2);
  const before = updates.all.length;
  await agent.request(draft.methods.agent.session.resume, { sessionId, cwd: place.workspace });
  const later = () =>
    updates.all.slice(before).flatMap((each) => (each.sessionUpdate === 'state_update' && 'state' in each ? [each.state] : []));
  await expect.poll(later).toEqual(['idle', 'running', 'requires_action', 'running', 'idle']);
  await agent.request(draft.methods.agent.session.close, { sessionId });
  await agent.request(draft.methods.agent.session.delete, { sessionId });
  expect((await agent.request(draft.methods.agent.session.list, { cwd: place.workspace })).sessions).toEqual([]);
  connection.close();
  child.stdin.end();
});

it('CK1045: an editor is sent that the server is away and back, at another address too, and a prompt that is cancelled meanwhile ends at once', async () => {
  const place = makePlace();
  const model = place.script([call('execute_bash', { command: 'sleep 271817' }), { text: 'And on.' }, { text: 'Never asked.' }]);
  const serve = async () => {
    const server = startTendon(place, ['serve', '--port', '0', '-m', model]);
    await server.until('workspace');
    return server;
  };
  const first = await serve();
  const child = spawn(process.execPath, [builtTendon(), 'acp'], {
    env: { PATH: process.env.PATH, HOME: place.home, TENDON_HOME: join(place.home, '.tendon') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const updates = new Seen<SessionUpdate>();
  const saying = (text: string) =>
    updates.until(
      (each) => each.sessionUpdate === 'agent_message_chunk' && each.content.type === 'text' && each.content.text.includes(text),
    );
  const { agent } = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params: { update } }) => updates.take(update))
    .connect(
      ndJsonStream(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>, Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>),
    );
  await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: place.workspace, mcpServers: [] });
  const ask = (text: string) => agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  const cancel = () => agent.notify(methods.agent.session.cancel, { sessionId });

  const begun = ask('begin');
  await updates.until((each) => each.sessionUpdate === 'tool_call');
  first.signal('SIGKILL');
  await saying('The server is away; reconnecting.');
  await cancel();
  expect(await begun).toEqual({ stopReason: 'cancelled' });
  updates.all.length = 0;
  const unsent = ask('never mind');
  await saying('The server is away; reconnecting.');
  await cancel();
  expect(await unsent).toEqual({ stopReason: 'cancelled' });

  // It is at another address. The agent was stopped, and the message that was cancelled is not sent.
  updates.all.length = 0;
  const going = ask('go on');
  await saying('The server is away; reconnecting.');
  await serve();
  await saying('The server is back.');
  expect(await going).toEqual({ stopReason: 'end_turn' });
  await saying('And on.');
  updates.all.length = 0;
  await agent.request(methods.agent.session.load, { sessionId, cwd: place.workspace, mcpServers: [] });
  const asked = updates.all.flatMap((each) =>
    each.sessionUpdate === 'user_message_chunk' && each.content.type === 'text' ? [each.content.text] : [],
  );
  expect(asked).toEqual(['begin', 'go on']);
});
