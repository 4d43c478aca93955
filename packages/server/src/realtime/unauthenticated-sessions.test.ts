import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { rawConnection } from '../fuzz/raw-connection.test-support.ts';
import { testServer } from '../server.test-support.ts';

const KEY = 'a-key-that-guards-this-server';
const POLL = '/socket.io/?EIO=4&transport=polling';

const open = async (url: string, query = ''): Promise<Response> => fetch(`${url}${POLL}${query}`);
const sidOf = async (response: Response): Promise<string> => /"sid":"([^"]+)"/.exec(await response.text())![1]!;

it('SV300: a session without a key may send 64 KB at a time, and is refused with an explanation', async () => {
  const { url } = await testServer({ sessionApiKey: KEY });
  const sid = await sidOf(await open(url));
  const post = (bytes: number, more = '') =>
    fetch(`${url}${POLL}&sid=${sid}${more}`, { method: 'POST', body: `4${'x'.repeat(bytes - 1)}` });
  expect((await post(64 * 1024 + 1)).status).toBe(413);
  expect((await fetch(`${url}${POLL}&sid=${sid}`, { method: 'POST', body: '40' })).status).toBe(200);
  expect(await (await fetch(`${url}${POLL}&sid=${sid}`)).text()).toContain('invalid_session_api_key');
});

it('SV300: a body is refused by its announced length, before any of it is held, and so is one without a length', async () => {
  const { url } = await testServer({ sessionApiKey: KEY });
  for (const length of ['Content-Length: 19922954', 'Transfer-Encoding: chunked']) {
    const sid = await sidOf(await open(url));
    const raw = rawConnection(url);
    raw.write(`POST ${POLL}&sid=${sid} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n${length}\r\nConnection: close\r\n\r\n`);
    expect(await raw.closed, length).toMatch(/^HTTP\/1\.1 413 /);
  }
});

it('SV300: a WebSocket without a key is closed by a larger frame; with a key the frame is accepted', async () => {
  const { url } = await testServer({ sessionApiKey: KEY });
  const closed = (query: string): Promise<number> => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket${query}`);
    socket.on('error', () => undefined);
    socket.on('open', () => {
      socket.send(`4${'x'.repeat(100_000)}`);
      // An invalid packet ends a session that accepted it.
      if (query !== '') socket.send('9');
    });
    return new Promise((resolve) => socket.once('close', resolve));
  };
  expect(await closed('')).toBe(1009);
  expect(await closed(`&session_api_key=${KEY}`)).not.toBe(1009);
});

it('SV300: an address has at most 32 of them at once; clients with a key are not counted', async () => {
  const { url } = await testServer({ sessionApiKey: KEY });
  const answers = await Promise.all(Array.from({ length: 40 }, () => open(url)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(32);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(8);
  expect((await open(url, `&session_api_key=${KEY}`)).status).toBe(200);
});

it('SV302: polling by script is refused', async () => {
  const { url } = await testServer();
  expect((await open(url, '&j=0')).status).toBe(400);
});
