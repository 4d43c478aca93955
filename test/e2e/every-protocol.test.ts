/** The seed document's example over every protocol, with real processes and the real sandbox. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { itInFull, Seen } from '@tendon/testing';
import { builtTendon, TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';

const TASK = 'write a bash script that prints hello';

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-protocols-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

async function started(env: NodeJS.ProcessEnv): Promise<TendonProcess> {
  const tendon = await TendonProcess.start(env);
  onTestFinished(() => tendon.remove());
  return tendon;
}

/** A model that says `steps` in order. */
function scripted(steps: readonly unknown[]): string {
  const path = join(folder(), 'script.json');
  writeFileSync(path, JSON.stringify(steps));
  return `scripted/${path}`;
}

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

/** What websocat does: lines in, lines out, until a frame passes. */
async function websocat(url: string, lines: readonly unknown[], isLast: (frame: WireEvent) => boolean): Promise<WireEvent[]> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
  const seen = new Seen<WireEvent>();
  const cut = new Promise<never>((_, reject) => {
    socket.once('open', () => lines.forEach((line) => socket.send(JSON.stringify(line))));
    socket.on('message', (data: Buffer) => seen.take(JSON.parse(data.toString()) as WireEvent));
    socket.once('error', reject).once('close', () => reject(new Error(`closed after ${JSON.stringify(seen.all.at(-1))}`)));
  });
  const last = await Promise.race([seen.until(isLast), cut]);
  socket.terminate();
  return seen.all.slice(0, seen.all.indexOf(last) + 1);
}

describe('the demo model', () => {
  let tendon: TendonProcess;
  beforeAll(async () => {
    tendon = await TendonProcess.start();
  });
  afterAll(() => tendon.remove());

  it('SV15: the example of the seed document, as websocat sends it', async () => {
    const frames = await websocat(tendon.url, [{ action: 'start', args: { task: TASK } }], (frame) => frame.action === 'finish');
    expect(frames.find((frame) => frame.observation === 'run')).toMatchObject({ content: 'hello', extras: { exit_code: 0 } });
    expect(frames.every((frame) => !('id' in frame))).toBe(true);
  });

  it('SV12: the same over Socket.IO and REST, with its files', async () => {
    const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: TASK });
    const watcher = new Watcher(tendon.url, id);
    await watcher.untilState('finished', 'awaiting_user_input');
    await watcher.until((event) => event.action === 'finish');
    expect(await tendon.json(`/api/conversations/${id}/list-files`)).toEqual(['hello.sh']);
    expect(await tendon.json(`/api/conversations/${id}/select-file?file=hello.sh`)).toMatchObject({
      code: expect.stringContaining('hello') as string,
    });
    const missing = await fetch(`${tendon.url}/api/conversations/${id}/select-file?file=/etc/shadow`);
    expect(missing.status).toBe(404);
    watcher.send('run', { command: 'bash hello.sh | tr a-z A-Z' });
    expect(await watcher.until((event) => event.content === 'HELLO')).toMatchObject({ observation: 'run' });
    watcher.close();
  });
});

describe('SV7: the folder', () => {
  it('WORKSPACE_BASE is where the agent works, and a client may name one inside it', async () => {
    const base = folder();
    const tendon = await started({ WORKSPACE_BASE: base });
    const done = (frame: WireEvent) => frame.action === 'finish';
    await websocat(tendon.url, [{ action: 'start', args: { task: TASK } }], done);
    expect(readFileSync(join(base, 'hello.sh'), 'utf8')).toContain('hello');
    const frames = [
      { action: 'initialize', args: { directory: 'inner' } },
      { action: 'start', args: { task: TASK } },
    ];
    await websocat(tendon.url, frames, done);
    expect(readFileSync(join(base, 'inner/hello.sh'), 'utf8')).toContain('hello');
  });
});

describe('SV18: leaving', () => {
  it('a server that is stopped in mid run ends at once, and the next one goes on', async () => {
    const steps = Array.from({ length: 6 }, (_, index) => bash(`sleep 0.3; echo line${index + 1} >> lines`));
    const tendon = await started({ LLM_MODEL: scripted([...steps, bash('cat lines'), { text: 'done' }]) });
    const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'count' });
    const watcher = new Watcher(tendon.url, id);
    await watcher.until((event) => event.observation === 'run');
    await tendon.kill('SIGTERM');
    await tendon.start();
    await watcher.until((event) => event.observation === 'run' && event.content?.startsWith('line1\n') === true);
    const text = watcher.events.find((event) => event.content?.startsWith('line1\n'))!.content!;
    expect(text.trim().split('\n')).toEqual(['line1', 'line2', 'line3', 'line4', 'line5', 'line6']);
    const ids = (await tendon.trajectory(id)).map((event) => event.id);
    expect(ids).toEqual(ids.map((_, index) => index));
    watcher.close();
  });

  itInFull('a stopped conversation ends its command and its sandbox, and works again when somebody comes back', async () => {
    const tendon = await started({ LLM_MODEL: scripted([bash('sleep 600'), bash('echo again'), { text: 'done' }]) });
    const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'sleep' });
    const watcher = new Watcher(tendon.url, id);
    await watcher.until((event) => event.action === 'run');
    await tendon.json(`/api/conversations/${id}/stop`, {});
    expect(await tendon.json(`/api/conversations/${id}`)).toMatchObject({ status: 'STOPPED', agent_state: 'stopped' });
    watcher.close();
    const again = new Watcher(tendon.url, id);
    again.send('message', { content: 'go on' });
    await again.until((event) => event.observation === 'run' && event.content === 'again');
    again.close();
  });
});

describe('SV1: what cannot be served', () => {
  const serve = (env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [builtTendon(), 'serve'], {
      env: { PATH: process.env.PATH, HOME: folder(), PORT: '0', ...env },
      encoding: 'utf8',
      timeout: 60_000,
    });

  it.each([
    [{ PORT: 'many' }, 2, 'PORT: a number is expected\n'],
    [{ SESSION_API_KEY: 'short' }, 2, 'SESSION_API_KEY: at least 16 characters are needed, shorter ones can be guessed\n'],
    [{ HOST: '203.0.113.1' }, 1, 'HOST 203.0.113.1 is not an address of this machine.\n'],
  ])('%o', (env, status, stderr) => {
    expect(serve(env)).toMatchObject({ status, stderr });
  });

  it('a port in use is named', async () => {
    const { port } = new URL((await started({})).url);
    expect(serve({ PORT: port })).toMatchObject({
      status: 1,
      stderr: `Port ${port} of 127.0.0.1 is in use. Set PORT to another one, or end the other server.\n`,
    });
  });
});
