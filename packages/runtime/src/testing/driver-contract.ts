import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anchorOf,
  createTestSandboxes,
  execute,
  executorFolder,
  leftOf,
  never,
  observe,
  run,
  runAction,
  until,
  type TestSandboxes,
  SANDBOX_TEST_MS,
} from './sandboxes.ts';
import type { RunnableAction, Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import { signalProcess } from '../processes/process-identity.ts';
import type { SandboxDriver, SandboxHandle } from '../drivers/driver.ts';
import type { ExecutorFolder } from '../drivers/start/executor-folder.ts';

/** What the suite must know of a driver beside what all have. Without the optional ones the sandbox is a process of this host. */
export interface DriverUnderTest {
  readonly make: (executor: ExecutorFolder) => SandboxDriver | Promise<SandboxDriver>;
  /** Where the workspace is for what runs inside. */
  readonly workspacePath: (sandboxes: TestSandboxes) => string;
  /** The workspace as the test can look into it; default the folder of the conversation. */
  readonly workspaceFolder?: (sandboxes: TestSandboxes) => string;
  /** SIGKILL to the executor. */
  readonly killExecutor?: (handle: SandboxHandle) => Promise<void>;
  /** Everything of an incarnation that is still somewhere. */
  readonly leftOf?: (incarnation: string, sandboxes: TestSandboxes) => Promise<readonly string[]>;
  /** After all tests: whatever `make` has started. */
  readonly close?: () => Promise<void>;
}

/** What every driver must do, whatever it isolates. @internal */
export function describeDriver(name: string, subject: DriverUnderTest): void {
  const killExecutor = subject.killExecutor ?? (async (handle: SandboxHandle) => void signalProcess(anchorOf(handle), 'SIGKILL'));
  const whatIsLeft = subject.leftOf ?? (async (incarnation: string, { stateRoot }: TestSandboxes) => leftOf(incarnation, stateRoot));

  describe(`driver ${name}`, { timeout: SANDBOX_TEST_MS }, () => {
    let sandboxes: TestSandboxes;
    let workspace = '';
    beforeAll(async () => {
      sandboxes = createTestSandboxes(await subject.make(executorFolder()));
      workspace = subject.workspaceFolder?.(sandboxes) ?? sandboxes.workspace;
    });
    afterAll(async () => {
      await sandboxes.close();
      await subject.close?.();
    });
    const acquire = (id: string, runtimes = sandboxes.runtimes) => runtimes.acquire(id, { signal: never });

    it('SB1: says what it enforces', async () => {
      expect(await (await subject.make(executorFolder())).probe()).toMatchObject({
        available: true,
        strength: expect.any(String),
        description: expect.any(String),
      });
    });

    it('SB2: concurrent callers share one start and see its phases', async () => {
      const phases: string[] = [];
      const [first, second] = await Promise.all([
        sandboxes.runtimes.acquire('shared', { signal: never, onPhase: (phase) => phases.push(phase) }),
        acquire('shared'),
      ]);
      expect(first).toBe(second);
      expect(sandboxes.runtimes.current('shared')).toBe(first);
      expect([...new Set(phases)]).toEqual(['starting', 'started', 'workspace', 'ready']);
    });

    it('SB3: the record is durable when the runtime is handed out', async () => {
      const runtime = await acquire('shared');
      expect(await sandboxes.record('shared')).toMatchObject({
        state: 'live',
        incarnation: runtime.incarnation,
        conversation_id: 'shared',
      });
    });

    it('SB5: runs in the workspace, whose files belong to the host', async () => {
      const runtime = await acquire('shared');
      expect((await run(runtime, 'pwd')).output).toBe(subject.workspacePath(sandboxes));
      await writeFile(join(workspace, 'from-host'), 'hello');
      expect((await run(runtime, 'cat from-host; echo done > from-inside')).output).toBe('hello');
      expect(readFileSync(join(workspace, 'from-inside'), 'utf8')).toBe('done\n');
    });

    it('SB6: the same action again gives its recorded outcome', async () => {
      const runtime = await acquire('shared');
      const action = runAction(runtime, 'echo x >> once; wc -l < once');
      const [first, second] = await Promise.all([runtime.execute(action, { signal: never }), runtime.execute(action, { signal: never })]);
      const third = await runtime.execute(action, { signal: never });
      expect([second, third]).toEqual([first, first]);
      expect(readFileSync(join(workspace, 'once'), 'utf8')).toBe('x\n');
    });

    it('SB165: a key that was another action’s is refused and answers nothing; the same id of another epoch is another action', async () => {
      const runtime = await acquire('shared');
      const old = runAction(runtime, 'echo OLD');
      await runtime.execute(old, { signal: never, epoch: 'one' });
      const other = runAction(runtime, 'echo x >> other; echo NEW', { id: old.id });
      const reason = expect.stringContaining('another action') as string;
      expect(await runtime.execute(other, { signal: never, epoch: 'one' })).toEqual({ outcome: 'unknown', reason });
      expect((await run(runtime, 'test -e other')).exitCode).toBe(1);
      expect(await runtime.execute(other, { signal: never, epoch: 'two', isFresh: true })).toMatchObject({
        observation: { content: 'NEW' },
      });
      expect(readFileSync(join(workspace, 'other'), 'utf8')).toBe('x\n');
    });

    it('SB7: an action meant for another incarnation is not run', async () => {
      const runtime = await acquire('shared');
      const action = runAction(runtime, 'touch never', { executor: 'another' });
      expect(await runtime.execute(action, { signal: never })).toMatchObject({ outcome: 'unknown' });
      expect((await run(runtime, 'test -e never')).exitCode).toBe(1);
    });

    it('SB8: output arrives while it runs, in order', async () => {
      const runtime = await acquire('shared');
      const chunks: { offset: number; text: string }[] = [];
      const gate = join(workspace, 'gate');
      const running = runtime.execute(runAction(runtime, 'echo one; until test -e gate; do sleep 0.02; done; echo two'), {
        signal: never,
        onOutput: (chunk) => chunks.push(chunk),
      });
      await until('the first output', () => chunks.some(({ text }) => text.includes('one')));
      await writeFile(gate, '');
      await running;
      expect(chunks.map(({ text }) => text).join('')).toMatch(/one\s+two/);
      expect(chunks.map(({ offset }) => offset)).toEqual(chunks.map(({ offset }) => offset).toSorted((a, b) => a - b));
    });

    it('SB9: cancelling ends the command with an outcome, and the next one runs', async () => {
      const runtime = await acquire('shared');
      const controller = new AbortController();
      const running = execute(runtime, 'touch began; sleep 1000', controller.signal);
      await until('the command to begin', async () => (await runtime.files.list('.', { signal: never })).includes('began'));
      controller.abort();
      expect((await running).outcome).toBe('observed');
      expect((await run(runtime, 'echo next')).output).toBe('next');
      expect(await execute(runtime, 'touch never', controller.signal)).toMatchObject({ outcome: 'not-started' });
    });

    it('RT35: what waits for input is distinguished from what is silent for another reason', async () => {
      const runtime = await acquire('asking');
      const suffixOf = async (session: string, command: string): Promise<string> => {
        const action = runAction(runtime, command, { timeout: 0.5 });
        const inSession = { ...action, args: { ...action.args, session } } as RunnableAction;
        const result = await runtime.execute(inSession, { signal: never });
        if (result.outcome !== 'observed' || result.observation.observation !== 'run') throw new Error(JSON.stringify(result));
        return result.observation.extras.metadata.suffix;
      };
      const waits = async (session: string, command: string): Promise<void> => {
        let seen = await suffixOf(session, command);
        await until(`${command} to wait`, async () => seen.includes('waits for input') || ((seen = await suffixOf(session, '')), false));
      };
      const asking = ['read -r line', 'cat', 'cat | cat', 'sh -c "read line"'].map((command, n) => waits(`asks${n}`, command));
      const silent = ['sleep 300', 'sleep 300 | cat'].map((command, n) => suffixOf(`silent${n}`, command));
      await Promise.all(asking);
      const runs = expect.stringMatching(/ of 0\.5 seconds is over; the command is still running\./);
      expect(await Promise.all(silent)).toEqual([runs, runs]);
    });

    it('SB10: files of the workspace can be listed, read and written', async () => {
      const { files } = await acquire('files');
      const bytes = new TextEncoder().encode('ä\0b');
      await files.write('folder/file', bytes, { signal: never });
      expect(await files.list('.', { signal: never })).toContain('folder/');
      expect(new Uint8Array(await files.read('folder/file', { signal: never, maxBytes: 100 }))).toEqual(bytes);
      await expect(files.read('folder/file', { signal: never, maxBytes: 2 })).rejects.toThrow(/2 bytes/);
    });

    it('CK711: what a command did to the workspace is undone', async () => {
      const runtime = await acquire('undone');
      await run(runtime, 'mkdir made; echo one > made/one; chmod 750 made/one; ln -s one made/link');
      await run(runtime, 'rm -rf made; echo two > two');
      const { checkpoints, off } = await runtime.files.checkpoints({ signal: never });
      expect([checkpoints.length >= 2, off]).toEqual([true, undefined]);
      const action = { ...runAction(runtime, ''), action: 'restore_checkpoint' };
      const restore = { ...action, args: { checkpoint: checkpoints[0]!.number, what: 'files', from: -1 } } as RunnableAction;
      expect(await runtime.execute(restore, { signal: never })).toMatchObject({ observation: { observation: 'restore_checkpoint' } });
      expect((await run(runtime, 'stat -c %a made/one; readlink made/link; test -e two')).output).toBe('750\none');
    });

    it('RT820: a read-only workspace cannot be changed from inside, by no spelling, until it is mounted anew; or the start is refused', async () => {
      let isReadOnly = true;
      const driver = await subject.make(executorFolder());
      // What a remote one can do is known once its host was asked.
      await driver.probe();
      const other = createTestSandboxes(driver, { workspaceOf: async () => ({ hostPath: other.workspace, isReadOnly }) });
      const folder = subject.workspaceFolder?.(other) ?? other.workspace;
      await writeFile(join(folder, 'there'), 'as it was\n');
      const names = readdirSync(folder);
      try {
        const { mountsReadOnly } = other.runtimes;
        const acquired = other.runtimes.acquire('planning', { signal: never });
        const refusal = await acquired.then(() => '', String);
        expect(refusal.includes('cannot mount a workspace read-only')).toBe(!mountsReadOnly);
        if (!mountsReadOnly) return;
        const runtime = await acquired;
        expect((await run(runtime, `cat there; export shell_variable=over; cd /workspace; ${ATTEMPTS}`)).output).toBe('as it was');
        expect(await edit(runtime)).toMatch(/read-only/i);
        await expect(runtime.files.write('uploaded', new Uint8Array(1), { signal: never })).rejects.toThrow(/read-only/i);
        expect(readdirSync(folder)).toEqual(names);
        expect(readFileSync(join(folder, 'there'), 'utf8')).toBe('as it was\n');
        expect((await run(runtime, 'echo stays > ~/note; cat ~/note')).output).toBe('stays');
        const afterCrash = await other.restart();
        expect((await afterCrash.acquire('planning', { signal: never })).incarnation).toBe(runtime.incarnation);
        isReadOnly = false;
        await afterCrash.remount('planning');
        const writable = await afterCrash.acquire('planning', { signal: never });
        expect((await run(writable, 'echo new > there; cat there ~/note')).output).toBe('new\nstays');
        expect((await run(writable, 'echo "$shell_variable"')).output).toBe(driver.whenIdle === 'hibernate' ? 'over' : '');
        isReadOnly = true;
        const again = await (await other.restart()).acquire('planning', { signal: never });
        expect(again.incarnation).not.toBe(writable.incarnation);
        expect((await run(again, 'echo no > there; cat there')).output).toMatch(/read-only[^]*\nnew$/i);
      } finally {
        await other.close();
      }
    });

    it('SB14: a restarted server finds the same incarnation, with what ran meanwhile', async () => {
      const before = await acquire('restarted');
      const action = runAction(before, 'touch waiting; until test -e go; do sleep 0.02; done; echo survived >> survived');
      const abandoned = before.execute(action, { signal: never });
      await until('the command to begin', async () => (await before.files.list('.', { signal: never })).includes('waiting'));
      const runtimes = await sandboxes.restart();
      const after = await acquire('restarted', runtimes);
      expect(after.incarnation).toBe(before.incarnation);
      await writeFile(join(workspace, 'go'), '');
      const again = await after.execute(action, { signal: never });
      expect(again).toMatchObject({ outcome: 'observed', observation: { observation: 'run' } });
      expect(readFileSync(join(workspace, 'survived'), 'utf8')).toBe('survived\n');
      await abandoned;
    });

    it('SB15: an executor killed in mid command is an unknown outcome, and the next acquire has a new incarnation', async () => {
      const runtimes = await sandboxes.restart();
      const runtime = await acquire('killed', runtimes);
      const running = execute(runtime, 'touch running; sleep 1000');
      await until('the command to begin', async () => (await runtime.files.list('.', { signal: never })).includes('running'));
      await killExecutor(await sandboxes.handle('killed'));
      expect(await running).toMatchObject({ outcome: 'unknown', reason: expect.stringContaining('ended') });
      expect(await runtime.lost).toMatch(/ended/);
      const next = await acquire('killed', runtimes);
      expect(next.incarnation).not.toBe(runtime.incarnation);
      expect((await run(next, 'echo works')).output).toBe('works');
      expect(await next.execute(runAction(runtime, 'touch never'), { signal: never })).toMatchObject({ outcome: 'unknown' });
      expect(await whatIsLeft(runtime.incarnation, sandboxes)).toEqual([]);
    });

    it('SB161: what was lost with a sandbox that died unseen is reported beside the next output, once', async () => {
      const runtimes = await sandboxes.restart();
      const runtime = await acquire('unseen', runtimes);
      await run(runtime, 'plain=1');
      await killExecutor(await sandboxes.handle('unseen'));
      await runtime.lost;
      const next = await acquire('unseen', runtimes);
      expect(await wordsBeside(next, 'true')).toMatch(
        /\[The sandbox that worked here before has ended.*: what was running, shell variables, .* are gone\.\]$/,
      );
      expect(await wordsBeside(next, 'true')).not.toContain('before');
    });

    it('SB29: goes on when the installation is removed under it', async () => {
      const executor = executorFolder();
      const folder = mkdtempSync(join(tmpdir(), 'tendon-installed-'));
      cpSync(executor.folder, folder, { recursive: true });
      const other = createTestSandboxes(await subject.make({ ...executor, folder }));
      try {
        const runtime = await other.runtimes.acquire('upgraded', { signal: never });
        rmSync(folder, { recursive: true });
        await execute(runtime, 'kill -9 $$');
        expect((await run(runtime, 'echo works')).output).toBe('works');
      } finally {
        await other.close();
      }
    });

    it('SB16: after stop nothing is left', async () => {
      const runtimes = await sandboxes.restart();
      const runtime = await acquire('stopped', runtimes);
      await run(runtime, 'setsid sleep 1000 & nohup sleep 1000 & disown -a');
      expect(await whatIsLeft(runtime.incarnation, sandboxes)).not.toEqual([]);
      await runtimes.stop('stopped');
      expect(await whatIsLeft(runtime.incarnation, sandboxes)).toEqual([]);
      expect(runtimes.current('stopped')).toBeUndefined();
    });
  });
}

/** Quietly: what they leave is seen on the host. */
const ATTEMPTS = `(echo no > there; rm -f there; mv there gone; touch new; mkdir folder; ln there hard; chmod 777 there; truncate -s 0 there
cd / && mount -o remount,rw /workspace; mount -o remount,rw,bind /workspace; umount /workspace
unshare -Urm sh -c 'mount -o remount,rw,bind /workspace; touch /workspace/unshared; umount -l /workspace; touch /workspace/unshared'
unshare -Urm sh -c 'mkdir /tmp/bound; mount --bind /workspace /tmp/bound; mount -o remount,rw,bind /tmp/bound; touch /tmp/bound/bound'
touch /proc/self/root/workspace/rooted /proc/1/root/workspace/rooted) > /tmp/attempts 2>&1`;

async function edit(runtime: Runtime): Promise<string> {
  const made = await observe(
    runtime,
    ACTIONS.edit.create({ path: '/workspace/there', command: 'str_replace', old_str: 'was', new_str: 'is' }),
  );
  return made.content;
}

async function wordsBeside(runtime: Runtime, command: string): Promise<string> {
  const result = await execute(runtime, command);
  if (result.outcome !== 'observed' || result.observation.observation !== 'run') throw new Error(JSON.stringify(result));
  return result.observation.extras.metadata.suffix;
}
