import { openhandsV0, type DeltaFrame, type NetworkFrame, type VolatileFrame } from '@tendon/protocol';
import { expect, it } from 'vitest';
import type { OpenConversation } from '../conversations/open-conversations.ts';
import { EventStream } from './event-stream.ts';
import { systemClock } from '../platform/system-clock.ts';
import { Unsent, type Wire } from './wire.ts';

const BEHIND = 100_000;
const asking = (host: string): NetworkFrame => ({ volatile: 'network', questions: [{ host, port: 443, asked_at: '' }] });

function streamTo(sent: VolatileFrame[]) {
  const closed = new AbortController();
  const unsent = new Unsent(closed.signal);
  const wire: Wire = {
    send() {},
    carriesVolatile: true,
    sendVolatile: (frame) => void sent.push(frame),
    unsent,
    pauseReading() {},
    resumeReading() {},
    close: () => closed.abort(),
    closed: closed.signal,
  };
  return { stream: new EventStream({ wire, dialect: openhandsV0, clock: systemClock, send() {} }), unsent };
}

it('SV451: a client that is behind gets the newest questions, once, when it has caught up', async () => {
  const sent: VolatileFrame[] = [];
  const { stream, unsent } = streamTo(sent);
  unsent.add(BEHIND);
  for (let at = 0; at < 50; at += 1) stream.show(asking(`n${at}.example`));
  expect(sent).toEqual([]);
  unsent.add(-BEHIND);
  await expect.poll(() => sent).toEqual([asking('n49.example')]);
  stream.show(asking('latest.example'));
  expect(sent).toEqual([asking('n49.example'), asking('latest.example')]);
});

it('SV940: a client that was behind gets the rest of the answer as one piece, and no gap', async () => {
  const sent: VolatileFrame[] = [];
  const { stream, unsent } = streamTo(sent);
  let text = '';
  const say = (more: string) => {
    stream.show({ volatile: 'delta', turn: 3, part: 'text', offset: text.length, text: more });
    text += more;
  };
  const whole = (): DeltaFrame[] => [{ volatile: 'delta', turn: 3, part: 'text', offset: 0, text }];
  const log = { nextId: 0, follow: () => (async function* () {})() };
  const conversation = {
    log,
    state: { agentState: 'running' },
    get partialAnswer() {
      return whole();
    },
  };
  await stream.follow({ conversation } as unknown as OpenConversation, { from: 0 }, new AbortController().signal);
  sent.length = 0;
  say('one ');
  unsent.add(BEHIND);
  for (const more of ['two ', 'three ', 'four ']) say(more);
  unsent.add(-BEHIND);
  await expect.poll(() => sent.length).toBe(2);
  say('five');
  expect(sent).toMatchObject([
    { offset: 0, text: 'one ' },
    { offset: 4, text: 'two three four ' },
    { offset: 19, text: 'five' },
  ]);
});
