import type { ConfirmationRule, RuleTrial } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { socketIoClient, testServer } from '../../server.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const allow = (command: string): ConfirmationRule => ({ decision: 'allow', command });

it('TR953: rules are tried on a person’s last decisions, by the policy of the next action, and nothing is saved', async () => {
  const script = [bash('echo one'), bash('ls /'), bash('echo two && ls /'), bash('echo three'), bash('echo four'), { text: 'done' }];
  const server = await testServer({ script, env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  const id = await server.create();
  const path = `/api/conversations/${id}/confirmation`;
  const attempt = async (...rules: readonly ConfirmationRule[]) => {
    const answer = await server.post(`${path}/trial`, { rules });
    return (await answer.json()) as RuleTrial;
  };
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  client.send({ action: 'message', args: { content: 'begin' } });
  const decide = async (command: string, args: object) => {
    await client.frames.until(({ args: waits }) => {
      const { command: asked, confirmation_state } = (waits ?? {}) as { readonly command?: string; readonly confirmation_state?: string };
      return asked === command && confirmation_state === 'awaiting_confirmation';
    }, `the question about ${command}`);
    client.send({ action: 'change_agent_state', args });
  };
  expect(await attempt(allow('echo'))).toEqual({ decisions: 0, allowed: 0, rejected: 0 });
  await decide('echo one', { agent_state: 'user_confirmed' });
  await decide('ls /', { agent_state: 'user_confirmed' });
  await decide('echo two && ls /', { agent_state: 'user_confirmed', edited: 'true' });
  await decide('echo three', { agent_state: 'user_rejected', thought: 'not that' });
  await decide('echo four', { agent_state: 'user_confirmed' });
  await client.frames.until((frame) => frame.observation === 'run' && frame.content === 'four');

  expect(await attempt(allow('echo'))).toEqual({ decisions: 5, allowed: 3, rejected: 1 });
  expect(await attempt(allow('echo'), allow('ls'))).toEqual({ decisions: 5, allowed: 5, rejected: 1 });
  expect(await attempt(allow('echo three'))).toEqual({ decisions: 5, allowed: 1, rejected: 1 });
  expect(await server.engine.conversations.get(id)).not.toHaveProperty('confirmation_rules');
  await server.post(`${path}/rules`, { rules: [allow('ls'), { decision: 'deny', command: 'echo one' }] });
  // What names `ls` is allowed already, and `echo one` stays denied.
  expect(await attempt(allow('echo'), allow('ls'))).toEqual({ decisions: 5, allowed: 2, rejected: 1 });
  expect((await server.post('/api/conversations/none/confirmation/trial', { rules: [allow('echo')] })).status).toBe(404);
  expect((await server.post(`${path}/trial`, { rules: [{ decision: 'allow' }] })).status).toBe(422);
});
