import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startExecutor, type ConfigOverrides, type TestExecutor } from '../testing/start-executor.ts';

async function start(overrides: ConfigOverrides = {}): Promise<TestExecutor> {
  const executor = await startExecutor(overrides);
  onTestFinished(() => executor.kill());
  return executor;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** As the server whose epoch this is. */
async function ask(executor: TestExecutor, epoch: number | string, method: string, path: string, body?: unknown): Promise<Answer> {
  const { socketPath } = executor.config.endpoint;
  const outgoing = httpRequest({ socketPath, method, path, headers: { 'x-owner-epoch': epoch } });
  outgoing.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode!, body: await text(response) };
}

function action(executor: TestExecutor, key: string, command: string) {
  return { key, digest: 'a digest', incarnation: executor.config.incarnation, action: { action: 'run', args: { command } } };
}

describe('the epoch of a conversation’s owner', () => {
  it('RT900: an action of an earlier owner is refused before it starts, and the same key of the present one runs it', async () => {
    const executor = await start();
    expect((await ask(executor, 7, 'GET', '/alive')).status).toBe(200);
    const refused = await ask(executor, 6, 'POST', '/execute_action', action(executor, 'k', 'echo x >> count'));
    expect(refused).toEqual({ status: 412, body: expect.stringContaining('another server has taken the conversation over') });
    expect(existsSync(join(executor.workspace, 'count'))).toBe(false);
    expect((await ask(executor, 6, 'GET', '/effects/k')).body).toContain('never-seen');
    await ask(executor, 7, 'POST', '/execute_action', action(executor, 'k', 'echo x >> count'));
    expect(readFileSync(join(executor.workspace, 'count'), 'utf8')).toBe('x\n');
  });

  it('RT901: the next owner attaches to the action that runs, and the one before can neither cancel nor steer it', async () => {
    const executor = await start();
    const command = 'echo x >> count; until test -e go; do sleep 0.02; done; echo done';
    const first = ask(executor, 1, 'POST', '/execute_action', action(executor, 'k', command));
    await expect.poll(() => existsSync(join(executor.workspace, 'count'))).toBe(true);
    const second = ask(executor, 2, 'POST', '/execute_action', action(executor, 'k', command));
    await expect.poll(async () => (await ask(executor, 1, 'POST', '/effects/k/cancel?digest=a%20digest')).status).toBe(412);
    const input = { ...action(executor, 'input', 'x'), action: { action: 'run', args: { command: 'x', is_input: true } } };
    expect((await ask(executor, 1, 'POST', '/execute_action', input)).status).toBe(412);
    writeFileSync(join(executor.workspace, 'go'), '');
    for (const { body } of await Promise.all([first, second])) expect(body).toContain('"content":"done"');
    expect(readFileSync(join(executor.workspace, 'count'), 'utf8')).toBe('x\n');
  });

  it.each([
    ['PUT', '/files?path=left', 'text'],
    ['POST', '/sleep', {}],
    ['POST', '/sleep', { in_place: true }],
    ['POST', '/end_work', undefined],
    ['POST', '/shutdown', undefined],
    ['POST', '/lease', { seconds: 1 }],
    ['POST', '/plugins/start', { name: 'vscode' }],
    ['POST', '/copy_workspace', { name: '0'.repeat(32), checkpoint: 0 }],
    ['POST', '/a_route_of_later', {}],
  ])('RT900: %s %s of an earlier owner changes nothing', async (method, path, body) => {
    const executor = await start();
    await ask(executor, 2, 'GET', '/alive');
    expect((await ask(executor, 1, method, path, body)).status).toBe(412);
    expect(existsSync(join(executor.workspace, 'left'))).toBe(false);
    expect((await executor.run('echo works')).content).toBe('works');
  });

  it.each(['/process', '/shell', '/agent-shell', '/tunnel/80'])('RT900: no connection of an earlier owner leads to %s', async (path) => {
    const executor = await start();
    await ask(executor, 2, 'GET', '/alive');
    const headers = { connection: 'Upgrade', upgrade: 'tcp', 'x-owner-epoch': 1 };
    const outgoing = httpRequest({ socketPath: executor.config.endpoint.socketPath, path, headers }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(412);
    response.resume();
  });

  it('RT900: what only looks is answered to an earlier owner', async () => {
    const executor = await start();
    await ask(executor, 2, 'GET', '/alive');
    writeFileSync(join(executor.workspace, 'file'), 'content');
    expect(await ask(executor, 1, 'POST', '/list_files', { path: '' })).toEqual({ status: 200, body: expect.stringContaining('file') });
    expect(await ask(executor, 1, 'GET', '/files?path=file')).toEqual({ status: 200, body: 'content' });
  });

  it('RT902: the next incarnation knows the epoch of the one before it, also after it was killed', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'tendon-epoch-'));
    onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
    const first = await start({ folders: { stateDir } });
    await ask(first, 9, 'GET', '/alive');
    await first.kill();
    const second = await start({ folders: { stateDir }, incarnation: 'two' });
    expect((await ask(second, 8, 'POST', '/execute_action', action(second, 'k', 'true'))).status).toBe(412);
    expect((await ask(second, 9, 'POST', '/execute_action', action(second, 'k', 'true'))).status).toBe(200);
  });

  it('RT902: a file of epochs that is damaged is none', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'tendon-epoch-'));
    onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
    writeFileSync(join(stateDir, 'owner-epoch'), '9'.repeat(400));
    const executor = await start({ folders: { stateDir } });
    expect((await ask(executor, 1, 'POST', '/execute_action', action(executor, 'k', 'true'))).status).toBe(200);
  });

  it.each(['0', '-1', '1.5', 'one', '9007199254740993', ' '])('RT903: "%s" is no epoch', async (epoch) => {
    const executor = await start();
    expect((await ask(executor, epoch, 'GET', '/alive')).status).toBe(400);
    expect((await executor.run('echo works')).content).toBe('works');
  });

  it('RT903: a server without an epoch is not compared with others', async () => {
    const executor = await start();
    await ask(executor, 5, 'GET', '/alive');
    expect((await executor.run('echo works')).content).toBe('works');
  });
});
