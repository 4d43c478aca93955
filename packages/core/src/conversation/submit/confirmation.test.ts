import { ChangeAgentStateAction } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { legalityProblems } from '../../prompt/legal-request.test-support.ts';
import { projectMessages } from '../../prompt/project-messages.test-support.ts';
import { codeActAgent } from '../../agents/code-act-agent.ts';
import { bash, done, outline, stage } from '../conversation.test-support.ts';

const confirm = ChangeAgentStateAction.create({ agent_state: 'user_confirmed' });
const reject = ChangeAgentStateAction.create({ agent_state: 'user_rejected' });
const settings = { confirmation: () => ({ mode: 'rules', rules: [], analyzer: 'rules' }) as const };

it('EN22, TR950: in confirmation mode an action waits and says why; confirmed, it is added again and runs', async () => {
  const { say, submit, untilState, events, runtimes } = await stage({ settings, script: [{ text: 'let me', ...bash('echo yes') }, done] });
  await say('begin');
  await untilState('awaiting_user_confirmation');
  expect(runtimes.started).toEqual([]);
  expect(await submit(confirm)).toMatchObject({ ok: true });
  await untilState('finished');
  const log = await events();
  expect(outline(log).slice(7)).toEqual([
    'environment .agent_state_changed:awaiting_user_confirmation',
    'agent run',
    'user change_agent_state',
    'agent .null<8',
    'agent run',
    'environment .agent_state_changed:user_confirmed',
    'environment .agent_state_changed:running',
    'agent .run<11',
    'agent finish',
    'environment .agent_state_changed:finished',
  ]);
  expect(log[7]).not.toHaveProperty('llm_metrics');
  expect(log[8]).toMatchObject({ args: { thought: 'let me', confirmation_state: 'awaiting_confirmation' }, llm_metrics: {} });
  expect(log[8]).toMatchObject({ confirmation_reason: 'no rule allows `echo`' });
  expect(log[8]).not.toHaveProperty('executor');
  expect(log[11]).not.toHaveProperty('confirmation_reason');
  expect(log[11]).toMatchObject({ args: { thought: '', confirmation_state: 'confirmed' }, executor: 'host-1' });
  expect(legalityProblems(projectMessages(log, codeActAgent))).toEqual([]);
});

it('EN23: rejected, the action never runs, the rest of the answer neither, and the agent waits for a word', async () => {
  const calls = [...bash('echo one').toolCalls, ...bash('echo two').toolCalls];
  const { say, submit, untilState, events, runtimes } = await stage({ settings, script: [{ toolCalls: calls }, { text: 'what then?' }] });
  await say('begin');
  await untilState('awaiting_user_confirmation');
  await submit(reject);
  const { id } = await untilState('awaiting_user_input', 5);
  const log = await events();
  expect(outline(log).slice(9)).toEqual([
    'environment .agent_state_changed:awaiting_user_confirmation',
    'agent .null<7',
    'agent run',
    'user change_agent_state',
    'agent .null<11',
    'agent run',
    'environment .agent_state_changed:user_rejected',
    'agent .user_rejected<14',
    'agent .error<8',
    'environment .agent_state_changed:awaiting_user_input',
  ]);
  await say('do nothing');
  await untilState('awaiting_user_input', id + 1);
  expect(runtimes.started).toEqual([]);
  expect(legalityProblems(projectMessages(await events(), codeActAgent))).toEqual([]);
});

it('EN24: several actions of one answer are confirmed one by one, in their order', async () => {
  const view = { name: 'str_replace_editor', arguments: { command: 'view', path: '/workspace' } };
  const calls = [...bash('echo one >> lines').toolCalls, view, ...bash('echo two >> lines; cat lines').toolCalls];
  const { say, submit, untilState, events } = await stage({ settings, script: [{ toolCalls: calls }, done] });
  await say('begin');
  const { id } = await untilState('awaiting_user_confirmation');
  await submit(confirm);
  await untilState('awaiting_user_confirmation', id + 1);
  await submit(confirm);
  await untilState('finished');
  const runs = (await events()).flatMap((event) => ('observation' in event && event.observation === 'run' ? [event.content] : []));
  expect(runs).toEqual(['', 'one\ntwo']);
});

it('DL121: an action that waits comes right after the state that asks for it, whichever call of the answer it was', async () => {
  const view = { name: 'str_replace_editor', arguments: { command: 'view', path: '/workspace' } };
  const calls = [view, ...bash('echo one').toolCalls, ...bash('echo two').toolCalls];
  const { say, submit, untilState, events } = await stage({ settings, script: [{ toolCalls: calls }, done] });
  await say('begin');
  const { id } = await untilState('awaiting_user_confirmation');
  const asked = async (from: number) => (await events()).slice(from).filter(({ source }) => source === 'agent');
  expect(await asked(id)).toMatchObject([{ observation: 'null' }, { action: 'run', args: { command: 'echo one' } }]);
  await submit(ChangeAgentStateAction.create({ agent_state: 'paused' }));
  await submit(ChangeAgentStateAction.create({ agent_state: 'running' }));
  const { id: after } = await untilState('awaiting_user_confirmation', id + 1);
  expect(await asked(after)).toMatchObject([{ observation: 'null' }, { action: 'run', args: { command: 'echo one' } }]);
  await submit(confirm);
  const { id: next } = await untilState('awaiting_user_confirmation', after + 1);
  expect(await asked(next)).toMatchObject([{ observation: 'null' }, { action: 'run', args: { command: 'echo two' } }]);
  await submit(confirm);
  await untilState('finished');
  const log = await events();
  const ran = log.flatMap((event) => ('observation' in event && event.observation === 'run' ? [event.content] : []));
  expect(ran).toEqual(['one', 'two']);
  expect(legalityProblems(projectMessages(log, codeActAgent))).toEqual([]);
});

it('EN25: a message while an action waits neither confirms nor rejects it', async () => {
  const { say, submit, untilState, conversation } = await stage({ settings, script: [bash('true'), done] });
  await say('begin');
  await untilState('awaiting_user_confirmation');
  expect(await say('hm')).toMatchObject({ ok: true });
  expect(conversation.state).toMatchObject({ agentState: 'awaiting_user_confirmation', pending: [{ action: 'run' }] });
  await submit(confirm);
  await untilState('finished');
});

it('EN26: two verdicts at the same time count once', async () => {
  const { say, submit, untilState, runtimes } = await stage({ settings, script: [bash('true'), done] });
  await say('begin');
  await untilState('awaiting_user_confirmation');
  const results = await Promise.all([submit(confirm), submit(confirm), submit(reject)]);
  expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  await untilState(runtimes.started.length > 0 || results[2]!.ok === false ? 'finished' : 'awaiting_user_input', 5);
  expect(runtimes.started.length).toBeLessThanOrEqual(1);
});
