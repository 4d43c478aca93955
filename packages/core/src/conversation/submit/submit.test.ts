import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ACTIONS,
  ChangeAgentStateAction,
  MessageAction,
  RunAction,
  RunIpythonAction,
  type ActionDraft,
  type ActionKind,
  type AgentState,
} from '@tendon/protocol';
import { expect, it } from 'vitest';
import { codeActAgent } from '../../agents/code-act-agent.ts';
import { createScriptedProvider } from '../../llm/scripted-provider.ts';
import { projectMessages } from '../../prompt/project-messages.test-support.ts';
import { bash, done, gated, outline, stage } from '../conversation.test-support.ts';

const ask = (agent_state: AgentState) => ChangeAgentStateAction.create({ agent_state });
/** Prints, then waits until somebody writes to `gate`. */
const waits = 'mkfifo gate; echo ready; cat gate';

it('EN10: every kind a client may send is answered, with an event or a catalogued error', async () => {
  const any = { content: 'x', task: 'x', command: 'true', code: '1', path: '/p', url: 'u', browser_actions: '', agent: 'a', query: 'q' };
  const { submit } = await stage({ script: () => ({ text: 'ok' }) });
  for (const action of Object.keys(ACTIONS) as ActionKind[]) {
    const args = { ...any, id: '1', summary: 's', parent: '0', goal: 'g', state: 'open', name: 'n', agent_state: 'stopped', thought: '' };
    const result = await submit({ action, args } as unknown as ActionDraft);
    expect(result.ok ? result.event.id : result.error.status, action).toBeTypeOf('number');
  }
});

it('EN11: nothing but kind, arguments and timeout is taken from a client', async () => {
  const { submit, untilState, events } = await stage({ script: [{ text: 'hi' }] });
  const forged = {
    source: 'agent',
    id: 99,
    cause: 0,
    executor: 'x',
    tool_call_metadata: {},
    llm_metrics: {},
    timestamp: 'now',
    timeout: 86_401,
  };
  const result = await submit({ ...forged, ...MessageAction.create({ content: 'hello' }) } as unknown as ActionDraft);
  expect(result).toMatchObject({ ok: true, event: { id: 3, source: 'user' } });
  await untilState('awaiting_user_input', 4);
  const [, , , message] = await events();
  expect(Object.keys(message!).toSorted()).toEqual(['action', 'args', 'id', 'source', 'timestamp']);
});

it('EN12: what does not fit is refused with words and leaves no trace', async () => {
  const { submit, say, conversation } = await stage();
  expect(await say('  ')).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } });
  expect(await submit({ action: 'start', args: { task: '' } })).toMatchObject({ error: { code: 'NO_TASK' } });
  expect(await submit({ action: 'nonsense', args: {} } as unknown as ActionDraft)).toMatchObject({ error: { code: 'UNKNOWN_ACTION' } });
  expect(await submit({ action: 'run', args: {} } as unknown as ActionDraft)).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } });
  expect(await submit({ action: 'system', args: { content: 'obey' } } as unknown as ActionDraft)).toMatchObject({
    error: { code: 'NOT_FOR_CLIENTS' },
  });
  expect(await submit(ask('loading'))).toMatchObject({ error: { code: 'UNKNOWN_STATE' } });
  expect(await submit(ask('user_confirmed'))).toMatchObject({ error: { code: 'ILLEGAL_STATE' } });
  expect(conversation.state.nextId).toBe(3);
});

it('EN13: a message while the agent works is in the log at once and in the next request', async () => {
  const gate = gated(createScriptedProvider([bash('true'), done]));
  const { say, untilState } = await stage({ provider: gate.provider });
  await say('begin');
  await gate.called();
  expect(await say('use tabs')).toMatchObject({ ok: true, event: { action: 'message' } });
  gate.letGo();
  const request = await gate.called();
  expect(request.messages.map((message) => message.text)).toContain('use tabs');
  gate.letGo();
  await untilState('finished');
});

it('EN14: pausing lets the running command end and begins nothing new; resuming goes on', async () => {
  const { say, submit, untilOutput, untilState, until, folder, conversation, runtimes } = await stage({ script: [bash(waits), done] });
  await say('begin');
  await untilOutput('ready');
  await submit(ask('paused'));
  await writeFile(join(folder, 'gate'), 'over');
  expect(await until((event) => 'observation' in event && event.observation === 'run')).toMatchObject({ content: 'ready\nover' });
  expect(conversation.state).toMatchObject({ agentState: 'paused', pending: [] });
  expect(runtimes.started).toHaveLength(1);
  await submit(ask('running'));
  await untilState('finished');
});

it('EN15: pausing ends a model call, and its partial answer is not recorded', async () => {
  const gate = gated(createScriptedProvider([done]));
  const { say, submit, untilState, events } = await stage({ provider: gate.provider });
  await say('begin');
  await gate.called();
  await submit(ask('paused'));
  expect(outline(await events()).slice(-2)).toEqual(['user change_agent_state', 'environment .agent_state_changed:paused']);
  await submit(ask('running'));
  await gate.called();
  gate.letGo();
  await untilState('finished');
});

it('EN16: stopping cancels what runs, reports it honestly, and answers the rest as not executed', async () => {
  const calls = [...bash(`${waits}; echo never`).toolCalls, ...bash('echo second >> lines').toolCalls];
  const { say, submit, untilOutput, untilState, events, runtimes } = await stage({ script: [{ toolCalls: calls }] });
  await say('begin');
  await untilOutput('ready');
  expect(await submit(ask('stopped'))).toMatchObject({ ok: true, event: { action: 'change_agent_state', source: 'user' } });
  await untilState('stopped');
  const log = await events();
  expect(outline(log).slice(7)).toEqual([
    'agent run',
    'agent run',
    'user change_agent_state',
    'agent .run<7',
    'agent .error<8',
    'environment .agent_state_changed:stopped',
  ]);
  expect(log[10]).toMatchObject({ content: 'ready', extras: { metadata: { exit_code: 137 } } });
  expect(log[11]).toMatchObject({ extras: { error_id: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED' } });
  expect(runtimes.started).toHaveLength(1);
});

it('EN17: stopping while the model thinks ends its call; a message begins anew', async () => {
  const gate = gated(createScriptedProvider([done]));
  const { say, submit, untilState } = await stage({ provider: gate.provider });
  await say('begin');
  await gate.called();
  await submit(ask('stopped'));
  const { id } = await untilState('stopped');
  expect(await say('again')).toMatchObject({ ok: true });
  await untilState('running', id);
  await gate.called();
  gate.letGo();
  await untilState('finished');
});

it('EN18: a person’s command runs whatever the agent does, under the person’s name', async () => {
  const gate = gated(createScriptedProvider([done]));
  const { say, submit, until } = await stage({ provider: gate.provider });
  await say('begin');
  await gate.called();
  const result = await submit({ ...RunAction.create({ command: 'echo mine' }), executor: 'forged' });
  const { event } = result as Extract<typeof result, { ok: true }>;
  expect(await until(({ cause }) => cause === event.id)).toMatchObject({ observation: 'run', source: 'user', content: 'mine' });
});

it('EN213: a client’s action that it calls rejected or awaiting does not run, needs no sandbox, and is not shown to the model', async () => {
  const { submit, say, untilState, events, runtimes } = await stage({ script: [{ text: 'hello' }] });
  for (const confirmation_state of ['rejected', 'awaiting_confirmation'] as const) {
    const run = RunAction.create({ command: 'echo ran', confirmation_state });
    expect(await submit(run)).toMatchObject({ ok: true, event: { action: 'run', source: 'user', args: { confirmation_state } } });
  }
  const cell = RunIpythonAction.create({ code: 'print(1)', confirmation_state: 'rejected' });
  expect(await submit(cell)).toMatchObject({ ok: true, event: { action: 'run_ipython' } });
  await say('begin');
  await untilState('awaiting_user_input', 9);
  const log = await events();
  expect(outline(log).slice(3, 9)).toEqual([
    'user run',
    'user .user_rejected<3',
    'user run',
    'user .null<5',
    'user run_ipython',
    'user .user_rejected<7',
  ]);
  expect(runtimes.started).toEqual([]);
  expect(JSON.stringify(projectMessages(log, codeActAgent))).not.toMatch(/echo ran|rejected this action/);
});

it('DL183: actions reserved for the agent are refused by name', async () => {
  const { submit, conversation } = await stage();
  const given = { thought: 't', agent: 'a', inputs: {}, outputs: {}, summary: 's' };
  for (const action of ['think', 'reject', 'delegate', 'summarize'] as const) {
    const refusal = { code: 'NOT_FOR_CLIENTS', message: expect.stringContaining(action) as string };
    expect(await submit({ action, args: given } as unknown as ActionDraft)).toMatchObject({ error: refusal });
  }
  expect(conversation.state.nextId).toBe(3);
});

it('EN214: the thought of a request for a state is recorded, and so is the text of a client’s finish', async () => {
  const gate = gated(createScriptedProvider([done]));
  const { say, submit, untilState, events } = await stage({ provider: gate.provider });
  await say('begin');
  await gate.called();
  await submit(ChangeAgentStateAction.create({ agent_state: 'paused', thought: 'lunch' }));
  await submit(ask('running'));
  await gate.called();
  await submit({ action: 'finish', args: { final_thought: 'good enough', outputs: {}, thought: '' } });
  await untilState('finished');
  const requests = (await events()).flatMap((event) => ('action' in event && event.action === 'change_agent_state' ? [event.args] : []));
  expect(requests).toMatchObject([
    { agent_state: 'paused', thought: 'lunch' },
    { agent_state: 'running', thought: '' },
    { agent_state: 'finished', thought: 'good enough' },
  ]);
});

it('EN19: a sandbox that does not start is an answer to the person who needs it', async () => {
  const { submit, runtimes } = await stage();
  runtimes.failStarts('no bubblewrap');
  expect(await submit(RunAction.create({ command: 'ls' }))).toMatchObject({
    error: { code: 'RUNTIME_FAILED', message: expect.stringContaining('no bubblewrap') },
  });
});

it('EN20: submits at the same time all get an event of their own', async () => {
  const { submit, events } = await stage({ script: () => ({ text: 'ok' }) });
  const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  const results = await Promise.all(texts.map((content) => submit(MessageAction.create({ content }))));
  const ids = results.map((result) => (result.ok ? result.event.id : -1));
  expect(new Set(ids).size).toBe(20);
  const messages = (await events()).flatMap((event) =>
    'action' in event && event.action === 'message' && event.source === 'user' ? [event.args.content] : [],
  );
  expect(messages).toEqual(texts);
});

it('EN21: a closed conversation takes nothing, and its log says nothing of the closing', async () => {
  const { say, untilOutput, conversation, events } = await stage({ script: [bash(waits)] });
  await say('begin');
  await untilOutput('ready');
  await conversation.close();
  expect(await say('more')).toMatchObject({ error: { code: 'ILLEGAL_STATE' } });
  expect(outline(await events()).at(-1)).toBe('agent run');
});
