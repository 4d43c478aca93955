import { ChangeAgentStateAction, type ConfirmationMode, type ConfirmationRule } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { codeActAgent } from '../../agents/code-act-agent.ts';
import { legalityProblems } from '../../prompt/legal-request.test-support.ts';
import { projectMessages } from '../../prompt/project-messages.test-support.ts';
import type { ConfirmationSettings } from '../../policy/confirmation-policy.ts';
import { bash, done, stage, temporaryFolder, type Stage } from '../conversation.test-support.ts';

const confirm = ChangeAgentStateAction.create({ agent_state: 'user_confirmed' });

function asking(mode: ConfirmationMode, rules: readonly ConfirmationRule[] = [], analyzer: ConfirmationSettings['analyzer'] = 'rules') {
  return { settings: { confirmation: () => ({ mode, rules, analyzer }) } };
}

const actions = async ({ events }: Stage) => (await events()).filter((event) => 'action' in event && event.source === 'agent');
const risky = (command: string, security_risk: string) => ({
  toolCalls: [{ name: 'execute_bash', arguments: { command, security_risk } }],
});

it('TR705: what rules allow runs without a question, and the rest waits', async () => {
  const rules: ConfirmationRule[] = [{ decision: 'allow', command: 'cat' }];
  const on = await stage({ ...asking('rules', rules), script: [bash('cat /dev/null'), bash('cat /dev/null; touch a'), done] });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  expect(await actions(on)).toMatchObject([
    { action: 'system' },
    { args: { command: 'cat /dev/null', confirmation_state: 'confirmed' } },
    { args: { command: 'cat /dev/null; touch a', confirmation_state: 'awaiting_confirmation' } },
  ]);
  await on.submit(confirm);
  await on.untilState('finished');
});

it('TR706: what a rule denies is refused in every mode, with the reason for the model, and the rest of the answer runs', async () => {
  for (const mode of ['always', 'risk', 'rules', 'never'] as const) {
    const rules: ConfirmationRule[] = [
      { decision: 'deny', command: 'touch' },
      { decision: 'allow', command: 'cat' },
    ];
    const calls = [...bash('touch a').toolCalls, ...bash('cat on').toolCalls];
    const on = await stage({ ...asking(mode, rules), script: [{ toolCalls: calls }, done] });
    await on.say('begin');
    await (mode === 'always' ? on.untilState('awaiting_user_confirmation').then(() => on.submit(confirm)) : undefined);
    await on.untilState('finished');
    const log = await on.events();
    const refused = log.find((event) => 'action' in event && event.action === 'run' && event.args.command === 'touch a');
    expect(refused).toMatchObject({ args: { confirmation_state: 'rejected' } });
    expect(refused).not.toHaveProperty('executor');
    expect(log.find((event) => 'observation' in event && event.cause === refused!.id)).toMatchObject({
      observation: 'error',
      content: expect.stringContaining('a rule denies `touch`'),
    });
    expect(log.filter((event) => 'observation' in event && event.observation === 'run')).toMatchObject([{ extras: { command: 'cat on' } }]);
    expect(legalityProblems(projectMessages(log, codeActAgent))).toEqual([]);
  }
});

it('TR706: a file that a rule denies is neither read nor written', async () => {
  const rules: ConfirmationRule[] = [{ decision: 'deny', path: '/workspace/.env' }];
  const view = { name: 'str_replace_editor', arguments: { command: 'view', path: '/workspace/.env' } };
  const create = { name: 'str_replace_editor', arguments: { command: 'create', path: '/workspace/x/../.env', file_text: 'x' } };
  const on = await stage({ ...asking('never', rules), script: [{ toolCalls: [view, create] }, done] });
  await on.say('begin');
  await on.untilState('finished');
  expect(on.runtimes.started.length).toBeLessThanOrEqual(1);
  const answers = (await on.events()).filter((event) => 'observation' in event && event.observation === 'error');
  expect(answers).toHaveLength(2);
});

it('TR707: by risk, high and unknown ask; the risk of our rules stands in the action', async () => {
  const script = [bash('ls'), risky('curl https://example.com', 'LOW'), done];
  const on = await stage({ ...asking('risk'), script });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  expect(await actions(on)).toMatchObject([
    { action: 'system' },
    { args: { command: 'ls', security_risk: 0 } },
    { args: { command: 'curl https://example.com', security_risk: 2, confirmation_state: 'awaiting_confirmation' } },
  ]);
});

it('TR707: with the analyzer `llm` the risk that the model gives counts', async () => {
  const script = [risky('touch a', 'LOW'), risky('touch b', 'MEDIUM'), risky('touch c', 'HIGH'), done];
  const on = await stage({ ...asking('risk', [], 'llm'), script });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  expect((await actions(on)).slice(1)).toMatchObject([
    { args: { command: 'touch a', confirmation_state: 'confirmed' } },
    { args: { command: 'touch b', confirmation_state: 'confirmed' } },
    { args: { command: 'touch c', confirmation_state: 'awaiting_confirmation' } },
  ]);
});

it('TR708: a relative path is judged from where the last command left the shell', async () => {
  const folder = temporaryFolder();
  const rules: ConfirmationRule[] = [
    { decision: 'allow', command: 'cat' },
    { decision: 'allow', command: 'cd' },
    { decision: 'deny', path: `${folder}/zero` },
  ];
  const calls = [...bash('cd /').toolCalls, ...bash('cat null').toolCalls];
  const script = [bash('cat /dev/null'), bash('cat zero'), bash('cat null'), { toolCalls: calls }, done];
  const on = await stage({ ...asking('rules', rules), folder, script });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  // Where the last of them runs is not known: the command before it, in the same answer, goes to another folder.
  expect((await actions(on)).slice(1, 6)).toMatchObject([
    { args: { command: 'cat /dev/null', confirmation_state: 'confirmed' } },
    { args: { command: 'cat zero', confirmation_state: 'rejected' } },
    { args: { command: 'cat null', confirmation_state: 'confirmed' } },
    { args: { command: 'cd /', confirmation_state: 'confirmed' } },
    { args: { command: 'cat null', confirmation_state: 'awaiting_confirmation' } },
  ]);
});

it('TR709: a rule that is added counts from the next answer of the model on', async () => {
  const rules: ConfirmationRule[] = [];
  const on = await stage({ ...asking('rules', rules), script: [bash('cat /dev/null'), bash('cat /dev/null'), done] });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  rules.push({ decision: 'allow', command: 'cat' });
  await on.submit(confirm);
  await on.untilState('finished');
  expect((await actions(on)).filter((event) => 'action' in event && event.action === 'run')).toMatchObject([
    { args: { confirmation_state: 'awaiting_confirmation' } },
    { args: { confirmation_state: 'confirmed' } },
    { args: { confirmation_state: 'confirmed' } },
  ]);
});
