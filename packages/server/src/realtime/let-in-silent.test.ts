import { describe, expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { WebSocket } from 'ws';
import { testServer, type TestServer } from '../server.test-support.ts';

/** Typed by hand: the transport's own frames, as text. */
async function websocat(server: TestServer, query: string, lines: readonly string[] = []) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket${query}`);
  onTestFinished(() => socket.terminate());
  const seen: string[] = [];
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('message', (data: Buffer) => seen.push(data.toString()));
  await new Promise((resolve) => socket.once('open', resolve));
  for (const line of lines) socket.send(line);
  const until = (text: string) => expect.poll(() => seen.join('\n'), { timeout: 50_000 }).toContain(text);
  return { socket, seen, closed, until };
}

const say = (text: string) => `42["oh_user_action",{"type":"message","source":"user","message":"${text}"}]`;

describe('SV156: websocat at `/socket.io`', () => {
  it('what it says is taken in order, without a frame that asks to be let in', async () => {
    const server = await testServer({ script: [{ text: 'first answer' }, { text: 'second answer' }] });
    const id = await server.create();
    const { seen, until } = await websocat(server, `&conversation_id=${id}&latest_event_id=-1`, [say('one')]);
    await until('first answer');
    expect(seen[0]).toMatch(/^0\{"sid"/);
    expect(seen[1]).toMatch(/^40\{"sid"/);
    expect(seen.filter((line) => line.startsWith('40'))).toHaveLength(1);
  });

  it('a client that sends nothing watches, and a late `40` does no harm', async () => {
    const server = await testServer({ script: [{ text: 'the answer' }] });
    const id = await server.create();
    const { socket, seen, until } = await websocat(server, `&conversation_id=${id}`);
    await until('awaiting_user_input');
    socket.send('40');
    socket.send(say('go'));
    await until('the answer');
    expect(seen.filter((line) => line.startsWith('40'))).toHaveLength(1);
  });

  it('with `40` first it is as before, and an unknown conversation is refused in words', async () => {
    const server = await testServer({ script: [{ text: 'the answer' }] });
    const id = await server.create();
    const { until } = await websocat(server, `&conversation_id=${id}`, ['40', say('go')]);
    await until('the answer');
    const refused = await websocat(server, `&conversation_id=${'0'.repeat(32)}`, [say('go')]);
    await refused.until('44{');
    expect(refused.seen.at(-1)).toContain('not found');
  });

  itInFull('a message without data costs nobody anything', async () => {
    const server = await testServer({ script: [{ text: 'the answer' }] });
    const id = await server.create();
    const empty = await websocat(server, `&conversation_id=${id}`, ['4']);
    await empty.closed;
    const { seen, until } = await websocat(server, `&conversation_id=${id}&latest_event_id=-1`, [say('one')]);
    await until('the answer');
    expect(seen[1]).toMatch(/^40\{"sid"/);
  });

  it('too much at once before it is let in ends it, and who names no conversation is let in only when it asks', async () => {
    const server = await testServer();
    const id = await server.create();
    const flood = await websocat(
      server,
      `&conversation_id=${id}`,
      Array.from({ length: 2_000 }, () => say('x')),
    );
    await flood.closed;
    const nameless = await websocat(server, '', [say('go')]);
    await nameless.closed;
    expect((await server.get('/alive')).ok).toBe(true);
  });
});
