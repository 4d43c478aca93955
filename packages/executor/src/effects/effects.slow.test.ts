import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import type { EffectReport, ExecuteLine } from '@tendon/protocol/executor-api';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

const started: TestExecutor[] = [];
async function start(...args: Parameters<typeof startExecutor>): Promise<TestExecutor> {
  const executor = await startExecutor(...args);
  started.push(executor);
  return executor;
}
afterEach(async () => {
  for (const executor of started.splice(0)) await executor.kill();
});

const run = (command: string): { action: string; args: Record<string, unknown> } => ({ action: 'run', args: { command } });
const report = async (executor: TestExecutor, key: string): Promise<EffectReport> =>
  JSON.parse((await executor.call('GET', `/effects/${encodeURIComponent(key)}`)).body) as EffectReport;

/** A request whose answer is read line by line. */
async function stream(executor: TestExecutor, key: string, command: string): Promise<{ lines: AsyncIterator<ExecuteLine>; close(): void }> {
  const outgoing = httpRequest({ socketPath: executor.config.endpoint.socketPath, method: 'POST', path: '/execute_action' });
  outgoing.on('error', () => {}); // ended by the test
  outgoing.end(JSON.stringify({ key, digest: 'a digest', incarnation: executor.config.incarnation, action: run(command) }));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return { lines: toLines(response), close: () => outgoing.destroy() };
}

async function* toLines(response: IncomingMessage): AsyncGenerator<ExecuteLine> {
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    const whole = text.split('\n');
    text = whole.pop() ?? '';
    for (const line of whole) yield JSON.parse(line) as ExecuteLine;
  }
}

const outputOf = (lines: readonly ExecuteLine[]): string => lines.map((line) => (line.type === 'output' ? line.text : '')).join('');

describe('effects', () => {
  it('RT1: the same key runs once, however often it is asked at the same time and after', async () => {
    const executor = await start();
    const ask = (): Promise<ExecuteLine[]> => executor.lines({ key: 'k', action: run('echo x >> count; sleep 0.2; echo ran') });
    const [first, second] = await Promise.all([ask(), ask()]);
    const third = await ask();
    expect(first.at(-1)).toMatchObject({ type: 'outcome', observation: { content: 'ran' } });
    expect(second).toEqual(first);
    expect(third.at(-1)).toEqual(first.at(-1));
    expect(readFileSync(join(executor.workspace, 'count'), 'utf8')).toBe('x\n');
  });

  it('RT4: another incarnation, an unknown kind and a missing key are refused', async () => {
    const executor = await start();
    expect(await executor.lines({ incarnation: 'two', action: run('touch ran') })).toMatchObject([{ type: 'refused' }]);
    expect(await executor.lines({ action: { action: 'dance', args: {} } })).toMatchObject([{ type: 'refused' }]);
    expect(await executor.lines({ key: '', action: run('touch ran') })).toMatchObject([{ type: 'refused' }]);
    expect((await executor.call('POST', '/execute_action', 'not json')).status).toBe(400);
    expect(existsSync(join(executor.workspace, 'ran'))).toBe(false);
    expect(await report(executor, 'k')).toEqual({ state: 'never-seen' });
  });

  it('RT5: a client that attaches gets the output from where it asks', async () => {
    const executor = await start();
    const { lines, close } = await stream(executor, 'k', 'echo äfirst; read -r _; echo second');
    expect((await lines.next()).value).toMatchObject({ type: 'output', offset: 0, text: expect.stringContaining('äfirst') });
    close();
    expect(await report(executor, 'k')).toEqual({ state: 'started' });
    const attached = executor.lines({ key: 'k', action: run('ignored'), outputFrom: 'äfirst\n'.length + 1 });
    const answered = executor.run('go', { is_input: true });
    const seen = await attached;
    await answered;
    expect(outputOf(seen)).toBe('go\nsecond\n'.slice(outputOf(seen).startsWith('go') ? 0 : 3));
    expect(seen.at(-1)).toMatchObject({ type: 'outcome', observation: { extras: { metadata: { exit_code: 0 } } } });
  });

  itInFull('RT5, RT8: a reader that stalls holds up nothing, and a long output can be read from its file', async () => {
    const executor = await start();
    const { lines, close } = await stream(executor, 'k', 'seq 1 300000');
    await lines.next();
    const whole = await executor.lines({ key: 'k', action: run('ignored') });
    expect(outputOf(whole)).toBe(Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join(''));
    close();
  });

  it('RT7: a cancelled command ends with an outcome, and the next one runs', async () => {
    const executor = await start();
    // One process from the first word on: a shell's child that has not become its program yet loses an interrupt.
    const { lines } = await stream(executor, 'k', "bash -c 'echo up; exec sleep 300'; echo never");
    await lines.next();
    expect((await executor.call('POST', '/effects/k/cancel')).status).toBe(204);
    const rest: ExecuteLine[] = [];
    for (let line = await lines.next(); !line.done; line = await lines.next()) rest.push(line.value);
    expect(rest.at(-1)).toMatchObject({ type: 'outcome', observation: { extras: { metadata: { exit_code: 130 } } } });
    expect(JSON.stringify(rest.at(-1))).toContain('cancelled');
    expect(await executor.run('echo next')).toMatchObject({ content: 'next', exitCode: 0 });
  });

  it.each(
    someOf(
      [
        ['catches the interrupt and ends well', 'trap "exit 0" INT', 130],
        ['ignores it and is terminated', 'trap "" INT', 143],
      ] as const,
      1,
    ),
  )('RT7: where its program %s, nothing more of a cancelled command runs', async (_what, trap, exitCode) => {
    const executor = await start();
    const { lines } = await stream(executor, 'k', `bash -c '${trap}; echo up; while :; do sleep 0.1; done'; touch never`);
    await lines.next();
    await executor.call('POST', '/effects/k/cancel');
    const rest: ExecuteLine[] = [];
    for (let line = await lines.next(); !line.done; line = await lines.next()) rest.push(line.value);
    expect(rest.at(-1)).toMatchObject({ type: 'outcome', observation: { extras: { metadata: { exit_code: exitCode } } } });
    expect(await executor.run('test -e never || echo next')).toMatchObject({ content: 'next' });
  });

  itInFull('RT7: what ignores the interrupt is terminated or killed', async () => {
    const executor = await start();
    const { lines } = await stream(executor, 'k', `bash -c 'trap "" INT TERM; echo up; while :; do sleep 1; done'`);
    await lines.next();
    await executor.call('POST', '/effects/k/cancel');
    const rest: ExecuteLine[] = [];
    for (let line = await lines.next(); !line.done; line = await lines.next()) rest.push(line.value);
    expect(rest.at(-1)).toMatchObject({ type: 'outcome', observation: { extras: { metadata: { exit_code: 137 } } } });
    expect(await executor.run('echo next')).toMatchObject({ content: 'next' });
  });

  it('RT1, RT2, RT3: killed in mid effect, the next incarnation says unknown and runs nothing again; outcomes stay', async () => {
    const first = await start();
    await first.lines({ key: 'done', action: run('echo x >> count; echo recorded') });
    const { lines } = await stream(first, 'cut', 'echo x >> count; echo up; sleep 300');
    await lines.next();
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');

    const { stateDir, workspace } = first.config.folders;
    const second = await start({ incarnation: 'two', folders: { stateDir, workspace, workDir: workspace } });
    expect(await report(second, 'done')).toMatchObject({ state: 'done', observation: { content: 'recorded' } });
    expect(await report(second, 'cut')).toEqual({ state: 'started' });
    expect(await second.lines({ key: 'done', action: run('echo x >> count') })).toMatchObject([
      { type: 'outcome', observation: { content: 'recorded' } },
    ]);
    expect(await second.lines({ key: 'cut', action: run('echo x >> count') })).toMatchObject([{ type: 'unknown' }]);
    expect(readFileSync(join(workspace, 'count'), 'utf8')).toBe('x\nx\n');
  });

  it('RT235: a key that was seen with another digest is refused, never answered, reported or cancelled, by the next incarnation too', async () => {
    const first = await start();
    await first.lines({ key: 'done', digest: 'old', action: run('echo OLD') });
    const { lines } = await stream(first, 'runs', 'echo up; until test -e go; do sleep 0.02; done; echo went on');
    await lines.next();
    const refused = [{ type: 'refused', reason: expect.stringContaining('another action') as string }];
    const reportOf = async (executor: TestExecutor, key: string): Promise<unknown> =>
      JSON.parse((await executor.call('GET', `/effects/${key}?digest=new`)).body);

    expect(await first.lines({ key: 'done', digest: 'new', action: run('touch ran; echo NEW') })).toEqual(refused);
    expect(await first.lines({ key: 'runs', digest: 'new', action: run('touch ran') })).toEqual(refused);
    expect(await reportOf(first, 'done')).toEqual({ state: 'another' });
    expect((await first.call('POST', '/effects/runs/cancel?digest=new')).status).toBe(204);
    writeFileSync(join(first.workspace, 'go'), '');
    const rest: ExecuteLine[] = [];
    for (let line = await lines.next(); !line.done; line = await lines.next()) rest.push(line.value);
    expect(rest.at(-1)).toMatchObject({ type: 'outcome', observation: { content: expect.stringContaining('went on') as string } });
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');

    const { stateDir, workspace } = first.config.folders;
    const second = await start({ incarnation: 'two', folders: { stateDir, workspace, workDir: workspace } });
    expect(await second.lines({ key: 'done', digest: 'new', action: run('touch ran') })).toEqual(refused);
    expect(await reportOf(second, 'done')).toEqual({ state: 'another' });
    expect(await second.lines({ key: 'done', digest: 'old', action: run('touch ran') })).toMatchObject([
      { type: 'outcome', observation: { content: 'OLD' } },
    ]);
    expect(existsSync(join(workspace, 'ran'))).toBe(false);
  });

  it('RT235: an entry of an executor of protocol 1, without a digest, is answered', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'tendon-yesterday-'));
    onTestFinished(() => rmSync(stateDir, { recursive: true }));
    const observation = { observation: 'null', content: 'yesterday', extras: {} };
    writeFileSync(join(stateDir, 'journal.ndjson'), `${JSON.stringify({ s: 'done', k: 'c:1', i: 'zero', o: observation })}\n`);
    const executor = await start({ folders: { stateDir } });
    expect(await executor.lines({ key: 'c:1', digest: 'any', action: run('touch ran') })).toEqual([{ type: 'outcome', observation }]);
  });

  it('RT6: a journal that was cut in mid line is read around the cut', async () => {
    const first = await start();
    await first.lines({ key: 'done', action: run('echo recorded') });
    await first.call('POST', '/shutdown');
    await once(first.process, 'exit');
    appendFileSync(join(first.config.folders.stateDir, 'journal.ndjson'), '{"s":"started","k":"torn');

    const { stateDir } = first.config.folders;
    const second = await start({ incarnation: 'two', folders: { stateDir } });
    await second.lines({ key: 'later', action: run('echo later') });
    second.process.kill('SIGKILL');
    await once(second.process, 'exit');
    const third = await start({ incarnation: 'three', folders: { stateDir } });
    expect(await report(third, 'torn')).toEqual({ state: 'never-seen' });
    expect(await report(third, 'done')).toMatchObject({ state: 'done' });
    expect(await report(third, 'later')).toMatchObject({ state: 'done', observation: { content: 'later' } });
  });
});
