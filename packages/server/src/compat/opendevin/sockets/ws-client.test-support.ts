/** Clients of 2024 against a real server. */
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { Frames, type PlainClient } from '../../../server.test-support.ts';
import type { RunningServer } from '../../../app/start-server.ts';

export const FOUR = { LLM_MODEL: '', AGENT: 'CodeActAgent', LANGUAGE: 'en', LLM_API_KEY: '' };

/** As in `plainClient`, with subprotocols. */
export async function wsClient(server: RunningServer, query = '', protocols: readonly string[] = []): Promise<PlainClient> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws${query}`, [...protocols]);
  const frames = new Frames();
  socket.on('message', (data: Buffer) => frames.take(JSON.parse(data.toString()) as never));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  onTestFinished(() => socket.terminate());
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { frames, socket, closed, send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)) };
}

export async function authToken(server: RunningServer, old = 'null'): Promise<string> {
  const answer = await fetch(`${server.url}/api/auth`, { headers: { authorization: `Bearer ${old}` } });
  return ((await answer.json()) as { token: string }).token;
}

/** opendevin-2024-06 to opendevin-2024-11: initialized, and its token. */
export async function initialized(client: PlainClient, args: object): Promise<string> {
  client.send({ action: 'initialize', args });
  const { token } = await client.frames.until((frame) => typeof frame.token === 'string');
  await client.frames.untilState('init');
  return String(token);
}

export const message = (content: string) => ({
  action: 'message',
  args: { content, images_urls: [], timestamp: '2024-10-03T10:00:00.000Z' },
});
