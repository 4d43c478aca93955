import { itInFull, Seen, waitFor } from '@tendon/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { testServer, type TestServer, type WireFrame } from '../server.test-support.ts';

class Shell extends Seen<WireFrame> {
  readonly socket: WebSocket;
  readonly closed: Promise<number>;

  constructor(server: TestServer, id: string, query = '') {
    super();
    this.socket = new WebSocket(`${server.url.replace('http', 'ws')}/shell?conversation_id=${id}&columns=100&rows=30${query}`);
    this.socket.on('message', (data: Buffer) => this.take(JSON.parse(data.toString()) as WireFrame));
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.on('close', resolve));
    onTestFinished(() => this.socket.terminate());
  }

  get text(): string {
    return this.all.map(({ output }) => output ?? '').join('');
  }

  send(frame: object): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
    else this.socket.once('open', () => this.send(frame));
  }

  prints(text: string): Promise<unknown> {
    return this.until(() => this.text.includes(text), `the shell prints ${text}`);
  }
}

describe('a person’s own shell', () => {
  itInFull('SV972: is a terminal in the sandbox, where the agent’s shell is, and ends with its socket', async () => {
    const server = await testServer({ env: { RUNTIME: 'local' } });
    const id = await server.create();
    const shell = new Shell(server, id);
    shell.send({ input: 'tty; stty size; echo made > mine.txt\n' });
    await shell.prints('30 100');
    expect(shell.text).toMatch(/\/(pts|terminals)\/\d+/);
    shell.send({ columns: 50, rows: 10 });
    shell.send({ input: 'stty size; sleep 1234 &\n' });
    await shell.prints('10 50');
    // What is printed faster than anybody reads waits, and all of it comes.
    shell.send({ input: 'seq 1 200000; echo all=$((6*7))\n' });
    await shell.prints('all=42');
    expect(shell.text).toContain('\n199999\r\n200000\r\n');
    expect(await (await server.get(`/api/conversations/${id}/select-file?file=mine.txt`)).json()).toEqual({ code: 'made\n' });
    shell.socket.close();

    const next = new Shell(server, id);
    next.send({ input: 'until ! pgrep -f "sleep 123[4]" >/dev/null; do sleep 0.05; done; echo gone=$((1+1)); exit 7\n' });
    await next.prints('gone=2');
    await waitFor(next.closed, () => 'the end of the socket');
    expect(next.all.at(-1)).toEqual({ ended: { code: 7 } });
  });

  it('SV1080: with `take_over` it is the agent’s own, an action in the log, and the agent goes on when it is given back', async () => {
    const server = await testServer({ env: { RUNTIME: 'local' } });
    const id = await server.create();
    const shell = new Shell(server, id, '&take_over=true');
    await shell.until(() => /[$#] $/.test(shell.text), 'a prompt');
    shell.send({ input: 'echo by=$((6*7)); stty size\n' });
    await shell.prints('by=42\n30 100');
    const events = async () => (await (await server.get(`/api/conversations/${id}/events?limit=100`)).json()) as { events: WireFrame[] };
    expect((await events()).events.filter(({ action }) => action === 'run')).toMatchObject([{ source: 'user', args: { take_over: true } }]);
    const other = new Shell(server, id, '&take_over=true');
    await waitFor(shell.closed, () => 'the page before is sent away');
    expect(shell.all.at(-1)?.ended).toMatchObject({ reason: 'another page has the terminal now' });
    await other.prints('by=42');
    other.send({ give_back: true });
    await waitFor(other.closed, () => 'the end');
    const seen = async () => (await events()).events.find(({ observation }) => observation === 'run');
    await expect.poll(seen, { timeout: 20_000 }).toMatchObject({ source: 'user', content: expect.stringContaining('by=42') as string });
    expect((await events()).events.filter(({ action }) => action === 'run')).toHaveLength(1);
  });

  it('SV991: ends where what runs in it reads nothing of what is typed', async () => {
    const server = await testServer({ env: { RUNTIME: 'local' } });
    const shell = new Shell(server, await server.create());
    shell.send({ input: 'stty -echo; echo rea$((6))dy; sleep 1000\n' });
    await shell.prints('rea6dy');
    const line = `${'x'.repeat(1023)}\n`.repeat(32);
    for (let count = 0; count < 300 && shell.socket.readyState === WebSocket.OPEN; count += 1) shell.send({ input: line });
    await waitFor(shell.closed, () => 'the end of the shell');
    expect(shell.all.at(-1)?.ended).toMatchObject({ code: null, reason: expect.stringMatching(/reads nothing/) as string });
  });

  it('SV972: is for who may drive; a frame that is none ends it, and so does nobody typing', async () => {
    const server = await testServer({ env: { RUNTIME: 'local' }, sessionApiKey: 'open-sesame-and-more-1', shellIdleMs: 1 });
    const owner = { 'x-session-api-key': 'open-sesame-and-more-1' };
    const made = (await (await server.post('/api/keys', { name: 'r', scope: 'read' }, owner)).json()) as { key: string };
    const { conversation_id: id } = (await (await server.post('/api/conversations', {}, owner)).json()) as { conversation_id: string };
    for (const query of ['', `&session_api_key=${made.key}`]) {
      const refused = new Shell(server, id, query);
      const status = new Promise((resolve) => refused.socket.on('unexpected-response', (_request, answer) => resolve(answer.statusCode)));
      expect(await waitFor(status, () => 'a refusal')).toBe(query ? 403 : 401);
    }
    const key = '&session_api_key=open-sesame-and-more-1';
    const idle = new Shell(server, id, key);
    await waitFor(idle.closed, () => 'the end of the idle shell');
    expect(idle.all.at(-1)?.ended).toMatchObject({ code: null, reason: expect.stringMatching(/^nobody has typed/) as string });
    const unknown = new Shell(server, '0'.repeat(32), key);
    await waitFor(unknown.closed, () => 'the end of what there is not');
    expect(unknown.all.at(-1)?.ended).toMatchObject({ code: null });
  });
});
