import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ChangeAgentStateAction, RunAction, type VolatileFrame } from '@tendon/protocol';
import type { LlmProvider } from '../llm/llm-provider.ts';
import { createScriptedProvider } from '../llm/scripted-provider.ts';
import { createMemoryStorage } from '../storage/index.ts';
import { bash, done, gated, ID, outline, stage, systemClock, temporaryFolder, watchAppends } from './conversation.test-support.ts';
import { createHostRuntimes, type HostRuntimes } from './host-runtimes.test-support.ts';
import { stateChanged } from '../engine/notices.ts';

it('EN1: a new conversation introduces itself and waits for the user', async () => {
  const { events, conversation } = await stage();
  expect(outline(await events())).toEqual([
    'environment .agent_state_changed:loading',
    'agent system',
    'environment .agent_state_changed:awaiting_user_input',
  ]);
  expect(conversation.state.agentState).toBe('awaiting_user_input');
});

it('EN2: a task runs from the first message to its end, in the order old clients know', async () => {
  const { say, events, untilState, folder } = await stage({ script: [bash('echo hello > a.txt && cat a.txt'), done] });
  const result = await say('write hello');
  expect(result).toMatchObject({ ok: true, event: { id: 3, action: 'message', source: 'user' } });
  await untilState('finished');
  expect(outline(await events()).slice(3)).toEqual([
    'user message',
    'user recall',
    'environment .agent_state_changed:running',
    'environment .recall<4',
    'agent run',
    'agent .run<7',
    'agent finish',
    'environment .agent_state_changed:finished',
  ]);
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('hello\n');
});

it('EN3: an answer without a call is a message that waits for the user', async () => {
  const { say, events, untilState } = await stage({ script: [{ text: 'Which file?' }] });
  await say('fix it');
  const { id } = await untilState('awaiting_user_input', 3);
  expect((await events())[id - 1]).toMatchObject({
    action: 'message',
    source: 'agent',
    args: { content: 'Which file?', wait_for_response: true },
  });
});

const stop = ChangeAgentStateAction.create({ agent_state: 'stopped' });
const memoryLog = () => createMemoryStorage({ clock: systemClock }).events.open(ID);

it('EN4: a stopped conversation that is opened again reports that it takes messages, without a second introduction', async () => {
  const log = await memoryLog();
  const first = await stage({ log });
  await first.submit(stop);
  await first.untilState('stopped');
  await first.conversation.close();
  const { events, conversation } = await stage({ log });
  await Promise.all([conversation.reopen(), conversation.reopen()]);
  expect(outline(await events()).slice(3)).toEqual([
    'user change_agent_state',
    'environment .agent_state_changed:stopped',
    'environment .agent_state_changed:loading',
    'environment .agent_state_changed:awaiting_user_input',
  ]);
  expect(conversation.state.agentState).toBe('awaiting_user_input');
});

it('EN173: a stopped conversation that is only looked at stays stopped, and a message starts it', async () => {
  const log = await memoryLog();
  const first = await stage({ log });
  await first.submit(stop);
  await first.untilState('stopped');
  await first.conversation.close();
  const before = log.nextId;
  const { conversation, say, untilState } = await stage({ log, script: [done] });
  conversation.wake();
  expect([conversation.isAtWork, log.nextId]).toEqual([false, before]);
  await say('go on');
  await untilState('finished');
});

it('EN5: opening a conversation that is at rest adds nothing and starts no sandbox', async () => {
  const log = await memoryLog();
  const first = await stage({ log, script: [done] });
  await first.say('begin');
  await first.untilState('finished');
  await first.conversation.close();
  const before = log.nextId;
  const { conversation, runtimes } = await stage({ log });
  conversation.wake();
  expect(log.nextId).toBe(before);
  expect(runtimes.current(ID)).toBeUndefined();
});

it('EN6: the sandbox starts with its first use, and its phases are shown to watchers', async () => {
  const { submit, untilFrame, conversation, frames } = await stage();
  await submit(RunAction.create({ command: 'true' }));
  await untilFrame((frame) => frame.volatile === 'status' && frame.id === 'STATUS$READY');
  const late: VolatileFrame[] = [];
  conversation.watch((frame) => late.push(frame));
  const isStatus = ({ volatile }: VolatileFrame) => volatile === 'status';
  expect(late.filter(isStatus)).toEqual(frames.filter(isStatus).slice(-1));
});

it('EN140: a conversation is made, looked at and answered in words without a sandbox', async () => {
  const runtimes = inEmptyFolder();
  const { conversation, frames, say, untilState } = await stage({ runtimes, script: [{ text: 'Hello.' }, done] });
  conversation.watch(() => undefined)();
  await say('Who are you?');
  const { id } = await untilState('awaiting_user_input', 3);
  await say('Thanks');
  await untilState('finished', id);
  expect(runtimes.current(ID)).toBeUndefined();
  expect(frames.filter(({ volatile }) => volatile === 'status')).toEqual([]);
});

it('EN140: with something to make ready it starts with the conversation, and not when that is opened again', async () => {
  const log = await memoryLog();
  const first = await stage({ log, preparesSandbox: true });
  await first.untilFrame((frame) => frame.volatile === 'status' && frame.id === 'STATUS$READY');
  await first.conversation.close();
  const { runtimes, conversation } = await stage({ log, preparesSandbox: true });
  conversation.wake();
  expect(runtimes.current(ID)).toBeUndefined();
});

it('EN141: the sandbox starts while the model still writes the call that needs it', async () => {
  const gate = Promise.withResolvers<void>();
  const scripted = createScriptedProvider([bash('true'), done]);
  const provider: LlmProvider = {
    ...scripted,
    async *stream(request, options) {
      for await (const event of scripted.stream(request, options)) {
        if (event.type === 'delta') await gate.promise;
        yield event;
      }
    },
  };
  const { say, untilFrame, untilState, events } = await stage({ runtimes: inEmptyFolder(), provider });
  await say('begin');
  await untilFrame((frame) => frame.volatile === 'status' && frame.id === 'STATUS$READY');
  expect(outline(await events())).not.toContain('agent run');
  gate.resolve();
  await untilState('finished');
});

function inEmptyFolder(): HostRuntimes {
  return { ...createHostRuntimes(temporaryFolder()), isWorkspaceEmpty: async () => true };
}

it('EN7: later messages look up knowledge instead of the workspace', async () => {
  const { say, untilState, events } = await stage({ script: () => ({ text: 'ok' }) });
  await say('one');
  const { id } = await untilState('awaiting_user_input', 4);
  await say('two');
  await untilState('awaiting_user_input', id + 1);
  const recalled = (await events()).flatMap((event) => ('action' in event && event.action === 'recall' ? [event.args.recall_type] : []));
  expect(recalled).toEqual(['workspace_context', 'knowledge']);
  expect(outline(await events()).slice(id + 1, id + 5)).toEqual([
    'user message',
    'user recall',
    'environment .agent_state_changed:running',
    `environment .null<${id + 2}`,
  ]);
});

it('EN8: an action that a dead process had sent off is asked for and cancelled when the user stops', async () => {
  const log = await memoryLog();
  const first = await stage({ log, script: [bash('mkfifo gate; echo ready; cat gate')] });
  await first.say('begin');
  await first.untilOutput('ready');
  await first.conversation.close();
  const { submit, untilState, events, runtimes } = await stage({ log, runtimes: first.runtimes, folder: first.folder });
  await submit(stop);
  await untilState('stopped');
  expect(outline(await events()).slice(-3)).toEqual([
    'user change_agent_state',
    'agent .run<7',
    'environment .agent_state_changed:stopped',
  ]);
  expect(runtimes.started).toHaveLength(1);
});

it('EN9: a stop that a crash came before is carried out after it', async () => {
  const log = await memoryLog();
  const first = await stage({ log, script: [bash('mkfifo gate; echo ready; cat gate')] });
  await first.say('begin');
  await first.untilOutput('ready');
  await first.conversation.close();
  await log.append([{ source: 'user', ...stop }], { expectedId: log.nextId });
  const { conversation, untilState } = await stage({ log, runtimes: first.runtimes, folder: first.folder });
  conversation.wake();
  await untilState('stopped');
  expect(conversation.state.pending).toEqual([]);
});

it('EN27: a person’s command that a dead process had sent off is waited for', async () => {
  const log = await memoryLog();
  const first = await stage({ log });
  await first.submit(RunAction.create({ command: 'mkfifo gate; echo ready; cat gate' }));
  await first.untilOutput('ready');
  await first.conversation.close();
  const { conversation, until, runtimes } = await stage({ log, runtimes: first.runtimes, folder: first.folder });
  conversation.wake();
  await writeFile(join(first.folder, 'gate'), 'over');
  expect(await until(({ cause }) => cause === 3)).toMatchObject({ observation: 'run', source: 'user', content: 'ready\nover' });
  expect(runtimes.started).toHaveLength(1);
});

it('EN111: another writer in the log does not lose an event of either', async () => {
  const log = await memoryLog();
  let meddles = 2;
  const meddled = watchAppends(log, async (drafts) => {
    if (meddles-- > 0 && drafts[0]!.source === 'user') await log.append([stateChanged('awaiting_user_input')], { expectedId: log.nextId });
  });
  const { say, untilState, events } = await stage({ log: meddled, script: [done] });
  expect(await say('begin')).toMatchObject({ ok: true, event: { id: 4 } });
  await untilState('finished');
  expect((await events()).map(({ id }) => id)).toEqual((await events()).map((_, index) => index));
});

it('EN112: a storage that fails is reported, answers the client, and the next action tries again', async () => {
  const log = await memoryLog();
  let broken = false;
  const failing = watchAppends(log, () => {
    if (broken) throw new Error('disk full');
  });
  const gate = gated(createScriptedProvider([done]));
  const { say, untilState, untilFrame, reported } = await stage({ log: failing, provider: gate.provider });
  await say('begin');
  await gate.called();
  broken = true;
  gate.letGo();
  await untilFrame((frame) => frame.volatile === 'status' && frame.type === 'error');
  expect(await say('hello?')).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
  expect(reported).toEqual([new Error('disk full'), new Error('disk full')]);
  broken = false;
  await gate.called();
  gate.letGo();
  await untilState('finished');
});
