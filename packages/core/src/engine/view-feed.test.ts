import { expect, it } from 'vitest';
import { createMemoryStorage } from '../storage/index.ts';
import { bash, countReads, ID, stage, systemClock } from '../conversation/conversation.test-support.ts';

it('EN198: an open conversation reads none of its events again, however often its loop rests', async () => {
  const counted = countReads(await createMemoryStorage({ clock: systemClock }).events.open(ID));
  const script = (_request: unknown, n: number) => (n % 2 === 0 ? bash('true') : { text: 'ready' });
  const { say, untilState } = await stage({ log: counted.log, script });
  let from = 0;
  for (const text of ['one', 'two', 'three']) {
    const answer = await say(text);
    from = answer.ok ? answer.event.id : from;
    await untilState('awaiting_user_input', from);
  }
  expect(counted.count).toBe(0);
});

it('EN198: opened again, it reads each event once for the state, and once for the model when that is asked', async () => {
  const counted = countReads(await createMemoryStorage({ clock: systemClock }).events.open(ID));
  const first = await stage({ log: counted.log, script: [{ text: 'ready' }] });
  await first.say('one');
  await first.untilState('awaiting_user_input', 3);
  await first.conversation.close();
  const stored = counted.log.nextId;
  const { say, untilState, conversation } = await stage({ log: counted.log, script: () => ({ text: 'ready' }) });
  conversation.wake();
  expect(counted.count).toBe(stored);
  for (const text of ['two', 'three']) {
    const answer = await say(text);
    await untilState('awaiting_user_input', answer.ok ? answer.event.id : 0);
    expect(counted.count).toBeLessThan(2 * stored + 20);
  }
});
