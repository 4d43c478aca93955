import { createScriptedProvider } from '@tendon/core/llm';
import { MessageAction, type VolatileFrame } from '@tendon/protocol';
import { Seen } from '@tendon/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { conversationsWith, made } from '../conversations.test-support.ts';

/** A deadline, not a measurement: machines are busy. */
const WAIT = { timeout: 50_000 };

/** The delegated agent asks a person for a colour; the other one ends with its report. */
const llm = createScriptedProvider(({ messages }, index) => {
  const isPart = !JSON.stringify(messages).includes('paint it all');
  if (isPart && index === 0)
    return { toolCalls: [{ name: 'ask_user', arguments: { question: 'Which colour?', choices: ['red', 'blue'] } }] };
  if (index > 0) return { toolCalls: [{ name: 'finish', arguments: { message: isPart ? 'painted' : 'done' } }] };
  return { toolCalls: [{ name: 'delegate', arguments: { task: 'paint a part' } }] };
});

async function asking() {
  const { conversations, opened } = conversationsWith(60_000, { llm, delegates: 1 });
  onTestFinished(() => conversations.close());
  const id = await made(conversations);
  const held = (await conversations.enter(id))!;
  const frames = new Seen<VolatileFrame>();
  held.open.watch((frame) => frames.take(frame));
  await conversations.submit(id, MessageAction.create({ content: 'paint it all' }));
  const frame = await frames.until((each) => each.volatile === 'delegated' && each.waiting.length > 0);
  return { conversations, id, child: opened[1]!, frames, frame };
}

it('EN940 SV973: a question of a delegated agent stands at the root with its path, and the reply there goes on with its work', async () => {
  const { conversations, id, child, frames, frame } = await asking();
  const [question, ...others] = await conversations.delegated.list(id);
  expect(others).toEqual([]);
  expect(question).toMatchObject({
    conversation_id: child,
    path: [{ conversation_id: child, title: 'paint a part', agent: 'CodeActAgent' }],
    kind: 'question',
    action: { action: 'message', args: { choices: ['red', 'blue'] } },
  });
  expect(await conversations.delegated.children(id)).toEqual([
    { conversation_id: child, action_id: expect.any(Number) as number, title: 'paint a part', agent: 'CodeActAgent' },
  ]);
  const { event_id } = question!;
  expect(frame).toMatchObject({ waiting: [{ conversation_id: child, event_id }] });
  const joined: VolatileFrame[] = [];
  await conversations.delegated.show(id, (each) => joined.push(each));
  expect(joined).toEqual([frame]);
  expect(await conversations.delegated.answer(id, child, { event_id, answer: 'reply', text: 'blue' })).toMatchObject({ ok: true });
  await vi.waitUntil(() => conversations.state(id)?.agentState === 'finished', WAIT);
  const log = await (await conversations.log(child))!.read();
  expect(log.filter((event) => 'action' in event && event.action === 'message' && event.source === 'user')).toMatchObject([
    { args: { content: 'paint a part' } },
    { args: { content: 'blue' } },
  ]);
  await frames.until((each) => each.volatile === 'delegated' && each.waiting.length === 0);
  expect(await conversations.delegated.list(id)).toEqual([]);
});

it('EN941: an answer that is about something else, or comes after the end, is refused with words and starts nobody', async () => {
  const { conversations, id, child } = await asking();
  const [{ event_id } = { event_id: -1 }] = await conversations.delegated.list(id);
  const answer = (root: string, which: string, event: number, how: 'reply' | 'approve') =>
    conversations.delegated.answer(root, which, { event_id: event, answer: how, text: 'blue' });
  expect(await answer(id, child, event_id + 1, 'reply')).toMatchObject({ error: { code: 'ILLEGAL_STATE' } });
  expect(await answer(id, child, event_id, 'approve')).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } });
  expect(await answer(await made(conversations), child, event_id, 'reply')).toMatchObject({ error: { code: 'CONVERSATION_NOT_FOUND' } });
  await conversations.stop(id);
  expect(conversations.state(child)?.agentState).toBe('stopped');
  expect(await answer(id, child, event_id, 'reply')).toMatchObject({
    error: { code: 'ILLEGAL_STATE', message: expect.stringContaining('nothing waits there any more') },
  });
  expect(conversations.state(child)?.agentState).toBe('stopped');
});
