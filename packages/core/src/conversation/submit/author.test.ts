import { ChangeAgentStateAction, MessageAction, openhandsV0, toJson, fromJson } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bash, done, stage } from '../conversation.test-support.ts';

const ada = { id: 'u1', name: 'Ada' };
const bob = { id: 'u2', name: 'Bob' };
const settings = { confirmation: () => ({ mode: 'rules', rules: [], analyzer: 'rules' }) as const };

it('SV1300: what a person sent, approved and rejected names them, in the log and on the wire', async () => {
  const { conversation, untilState, events } = await stage({ settings, script: [bash('echo one'), bash('echo two'), done] });
  await conversation.submit({ ...MessageAction.create({ content: 'begin' }), author: ada });
  await untilState('awaiting_user_confirmation');
  await conversation.submit({ ...ChangeAgentStateAction.create({ agent_state: 'user_confirmed' }), author: bob });
  const { id } = await untilState('awaiting_user_confirmation', 10);
  await conversation.submit({ ...ChangeAgentStateAction.create({ agent_state: 'user_rejected' }), author: ada });
  await untilState('awaiting_user_input', id);
  const log = await events();
  const named = log.filter(({ author }) => author).map((event) => ('action' in event ? `${event.action} ${event.author!.name}` : ''));
  expect(named).toEqual(['message Ada', 'change_agent_state Bob', 'run Bob', 'change_agent_state Ada', 'run Ada']);
  for (const event of log) expect(fromJson(JSON.parse(JSON.stringify(toJson(event))) as Record<string, unknown>)).toEqual(event);
  const frames = log.flatMap((event) => openhandsV0.encode(event, 'replay'));
  expect(frames.filter(({ author }) => author !== undefined).map(({ author }) => author)).toEqual([ada, bob, bob, ada, ada]);
});

it('SV1300: an author that a client sends is ignored, and without one no event has any', async () => {
  const { submit, untilState, events } = await stage({ script: [done] });
  await submit({ ...MessageAction.create({ content: 'begin' }), author: ada });
  await untilState('finished');
  expect(JSON.stringify(await events())).not.toContain('author');
});

it('SV1300: an event whose author is none stays as it came', () => {
  const json = { id: 0, timestamp: 't', source: 'user', action: 'message', args: { content: 'x' }, author: 'Ada' };
  expect(fromJson(json)).toMatchObject({ unknown: true });
});
