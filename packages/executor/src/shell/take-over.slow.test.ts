import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Seen } from '@tendon/testing';
import type { ShellInput, ShellOutput } from '@tendon/protocol/executor-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
beforeAll(async () => void (executor = await startExecutor({ limits: { takeOverSeconds: 1, noOutputTimeoutSeconds: 1 } })));
afterAll(() => executor.kill());

/** A page at the agent's terminal. */
class Page extends Seen<ShellOutput> {
  readonly #socket = connect(executor.config.endpoint.socketPath!);

  constructor() {
    super();
    let rest = '';
    this.#socket.write('GET /agent-shell HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    this.#socket.on('data', (data) => {
      const lines = (rest + data.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith('{')) this.take(JSON.parse(line) as ShellOutput);
    });
    this.send({ columns: 90, rows: 20 });
  }

  send(line: ShellInput): void {
    this.#socket.write(`${JSON.stringify(line)}\n`);
  }

  get text(): string {
    return this.all.map(({ output }) => output ?? '').join('');
  }

  prints(text: string): Promise<unknown> {
    return this.until(() => this.text.includes(text), `the terminal shows ${text}`);
  }

  prompts(): Promise<unknown> {
    return this.until(() => /[$#] $/.test(this.text), 'a prompt');
  }

  leave(): void {
    this.#socket.destroy();
  }
}

const takeOver = () => executor.run('# taken over', { take_over: true }, undefined);
const PATIENT = 60;

it('RT840: what a person types goes into the agent’s own shell, and what it showed is the outcome', async () => {
  await executor.run('mkdir -p far; AGENTS=1', {}, PATIENT);
  const over = takeOver();
  const page = new Page();
  await page.prompts();
  page.send({ input: 'cd far; MINE=$((AGENTS+41)); echo mine=$MINE; stty size\n' });
  await page.prints('20 90');
  expect(await executor.run('echo meanwhile', {}, PATIENT)).toMatchObject({
    content: expect.stringMatching(/^A person has this terminal/),
  });
  page.send({ input: 'half a li' });
  await page.prints('half a li');
  page.send({ giveBack: true });
  const seen = await over;
  expect(seen.content).toContain('mine=42\n');
  expect(seen).toMatchObject({ exitCode: 0, suffix: expect.stringMatching(/The user had this terminal and gave it back\./) });
  expect(seen.workingDir).toBe(`${executor.workspace}/far`);
  expect(await executor.run('echo "$MINE $PWD [$PS1]"', {}, PATIENT)).toMatchObject({
    content: `42 ${executor.workspace}/far []`,
    exitCode: 0,
  });
  await executor.run('cd ..', {}, PATIENT);
});

it('RT841: a running command can be typed into, and its own answer has what it printed', async () => {
  const running = executor.run('touch begun; read -r -s -p "Password: " p; echo; echo "long ${#p}"', {}, PATIENT);
  await expect.poll(() => existsSync(join(executor.workspace, 'begun'))).toBe(true);
  const over = takeOver();
  const page = new Page();
  await page.prints('Password: ');
  page.send({ input: 'open-sesame\n' });
  expect(await running).toMatchObject({ content: 'Password: \nlong 11', exitCode: 0 });
  await page.prompts();
  page.send({ giveBack: true });
  const seen = await over;
  expect(seen.content).toContain('long 11');
  expect(JSON.stringify(seen)).not.toContain('open-sesame');
});

it('RT842: a program that the person leaves running is the agent’s to speak to', async () => {
  const over = takeOver();
  const page = new Page();
  await page.prompts();
  page.send({ input: 'read -r line; echo "got=$line"; cat\n' });
  page.send({ input: 'one\n' });
  await page.prints('got=one');
  page.send({ input: 'two\n' });
  await page.prints('two\ntwo\n');
  page.send({ giveBack: true });
  expect(await over).toMatchObject({ exitCode: -1, suffix: expect.stringMatching(/still running in it/) });
  await executor.run('three', { is_input: true }, 1);
  expect(await executor.run('C-d', { is_input: true }, PATIENT)).toMatchObject({ exitCode: 0 });
  expect(await executor.run('echo free', {}, PATIENT)).toMatchObject({ content: 'free', exitCode: 0 });
});

it('RT843: it ends when no page is there, and the page that comes last has it', async () => {
  const over = takeOver();
  const first = new Page();
  await first.prompts();
  const second = new Page();
  await first.until(({ ended }) => ended !== undefined, 'the first is sent away');
  expect(first.all.at(-1)).toEqual({ ended: { code: null, reason: 'another page has the terminal now' } });
  await second.prompts();
  second.send({ input: 'exit 3\n' });
  await second.until(() => /exit\n[^]*[$#] $/.test(second.text), 'the prompt of a new shell');
  second.send({ input: 'echo again=$((6*7))\n' });
  await second.prints('again=42');
  second.leave();
  expect(await over).toMatchObject({ suffix: expect.stringMatching(/left without giving it back/) });
  expect(await executor.run('echo free', {}, PATIENT)).toMatchObject({ content: 'free', exitCode: 0 });
});
