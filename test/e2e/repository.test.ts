/** A conversation that begins with a repository: cloned in a real sandbox from a git host of our own, by a whole server. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import { ExecutorHostProcess, type GitHost, startGitHost, TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';

const TOKEN = 'glpat-0123456789abcdefghij';
const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const finish = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
const FILES = {
  'a.txt': 'hello\n',
  '.openhands/setup.sh': 'export SETUP_RAN=yes\necho "set up in $(basename "$PWD")"\n',
  '.openhands/pre-commit.sh': 'if [ -e bad ]; then echo "bad is refused"; exit 1; fi\n',
  '.openhands/microagents/repo.md': '---\nname: repo\ntype: repo\n---\nAlways say ahoy.\n',
};

describe.each(someOf(['local', 'remote'] as const, ['local']))('a repository at start, driver %s', (driver) => {
  let host: GitHost;
  let executors: ExecutorHostProcess | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'tendon-repository-'));
  beforeAll(async () => {
    host = await startGitHost(TOKEN);
    if (driver === 'remote') executors = await ExecutorHostProcess.start({ ownWorkspaces: true });
    host.create('private/app', FILES, ['topic']);
    host.create('open/plain', { 'b.txt': 'plain\n' });
  });
  afterAll(async () => {
    await executors?.remove();
    host.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  async function start(steps: readonly unknown[], hasToken = true): Promise<TendonProcess> {
    const script = join(mkdtempSync(join(folder, 'script-')), 'script.json');
    writeFileSync(script, JSON.stringify(steps));
    const env = {
      LLM_MODEL: `scripted/${script}`,
      SANDBOX_NETWORK_ALLOW_PRIVATE: host.name,
      LOG_LEVEL: 'info',
      ...executors?.serverEnvironment,
    };
    const tendon = await TendonProcess.start(env);
    onTestFinished(() => tendon.remove());
    if (hasToken)
      await tendon.json('/api/add-git-providers', { provider_tokens: { gitlab: { token: TOKEN, host: `http://${host.name}` } } });
    return tendon;
  }

  async function converse(tendon: TendonProcess, body: object): Promise<Watcher> {
    const made = await tendon.json<{ conversation_id: string }>('/api/conversations', {
      initial_user_msg: 'go',
      git_provider: 'gitlab',
      ...body,
    });
    const watcher = new Watcher(tendon.url, made.conversation_id);
    onTestFinished(() => watcher.close());
    return watcher;
  }
  /** What the agent's own commands printed. */
  const outputs = (watcher: Watcher) => {
    const own = watcher.events.filter((event) => event.action === 'run' && !isSetup(event)).map(({ id }) => id);
    return watcher.events
      .filter(({ observation, cause }) => observation === 'run' && own.includes(cause ?? -1))
      .map(({ content }) => content);
  };
  const errors = (watcher: Watcher) => watcher.events.filter((event) => event.observation === 'error').map(({ content }) => content);
  const isSetup = ({ action, args }: WireEvent) => action === 'run' && String(args?.command).includes('.openhands/setup.sh');
  const done = (event: WireEvent) => event.action === 'finish';
  /** Of the conversations of one test. */
  const workspaces = (tendon: TendonProcess) => {
    const root = join(executors ? join(executors.folder, 'home/executor') : tendon.home, 'workspaces');
    return existsSync(root) ? readdirSync(root).map((id) => join(root, id)) : [];
  };

  it('SV53, SV54, SV55: is cloned, set up and checked before the agent works in it', async () => {
    const commit = 'git add -A && git -c user.name=a -c user.email=a@b.c commit -qm x';
    const tendon = await start([
      bash('pwd; echo "setup: $SETUP_RAN"; git branch --show-current; cat a.txt; git status --short'),
      bash(`touch bad; ${commit}; echo "exit $?"; rm bad; git rm -q --cached bad`),
      bash(`echo more >> a.txt; ${commit}; git push -q origin HEAD; echo "exit $?"`),
      finish,
      finish,
    ]);
    const watcher = await converse(tendon, { repository: 'private/app' });
    await watcher.until(done);
    expect(errors(watcher)).toEqual([]);
    expect(outputs(watcher)[0]).toMatch(/^\/workspace\/app\nsetup: yes\nopenhands-workspace-[a-z]{8}\nhello$/);
    expect(outputs(watcher)[1]).toContain('bad is refused\nexit 1');
    expect(outputs(watcher)[2]).toContain('exit 0');
    expect(host.git('private/app', 'branch', '--list', 'openhands-workspace-*')).toContain('openhands-workspace-');
    const setup = watcher.events.find(isSetup);
    expect(watcher.events.find((event) => event.cause === setup?.id)).toMatchObject({
      observation: 'run',
      content: expect.stringContaining('set up in app') as string,
    });
    // On a machine too busy for the first message they come with the next (EN215).
    watcher.send('message', { content: 'anything else?' });
    await watcher.until((event) => event.observation === 'recall' && JSON.stringify(event).includes('Always say ahoy'));
    expect(tendon.output).toMatch(/fetch 127\.0\.0\.1:\d+\/private\/app with the stored token/);
    expect(tendon.output + JSON.stringify(watcher.events) + JSON.stringify(watcher.volatile)).not.toContain(TOKEN);
  });

  // Sandboxes on another host refuse it: they cannot mount a workspace read-only.
  const planners = driver === 'local' ? ['PlanAgent'] : [];
  it.each(planners)('EN820: a repository is cloned for %s, which only plans, and cannot be changed by it', async (agent) => {
    const tendon = await start([bash('pwd; cat a.txt; touch new; echo "exit $?"'), finish]);
    const watcher = await converse(tendon, { repository: 'private/app', agent });
    await watcher.until(done);
    expect(errors(watcher)).toEqual([]);
    expect(outputs(watcher)).toEqual([expect.stringMatching(/^\/workspace\/app\nhello\n.*read-only[^]*exit 1/i)]);
  });

  itInFull('SV53: a named branch is checked out; one that is not there is reported, and the conversation goes on', async () => {
    const tendon = await start([bash('git branch --show-current; pwd'), finish]);
    const there = await converse(tendon, { repository: 'private/app', selected_branch: 'topic' });
    await there.until(done);
    expect(outputs(there)).toEqual(['topic\n/workspace/app']);
    const missing = await converse(tendon, { repository: 'private/app', selected_branch: 'nowhere' });
    await missing.until(done);
    expect(errors(missing)).toEqual([expect.stringMatching(/could not be cloned: .*nowhere/)]);
    expect(outputs(missing)).toEqual([expect.stringMatching(/\/workspace$/)]);
  });

  itInFull('SV56: without a token a private repository is a clear error, and what is no repository is refused at once', async () => {
    const tendon = await start([bash('echo works'), finish], false);
    const watcher = await converse(tendon, { repository: `http://${host.name}/private/app.git` });
    await watcher.until(done);
    expect(errors(watcher)).toHaveLength(1);
    expect(outputs(watcher)).toEqual(['works']);
    for (const repository of ['no-owner', 'a/b;c', 'https://user:pw@x.example/a/b', '../../etc/passwd', '-a/--upload-pack=x y']) {
      await expect(tendon.json('/api/conversations', { repository })).rejects.toThrow(/400.*repository/s);
    }
    await expect(tendon.json('/api/conversations', { repository: 'a/b', selected_branch: '--force' })).rejects.toThrow(/400.*branch/s);
  });

  it('SV57, SV58: killed in mid clone, the next server does it again, cleanly', async () => {
    const tendon = await start([bash('ls -A /workspace; cat /workspace/app/a.txt'), finish]);
    const held = Promise.withResolvers<void>();
    const before = host.requests.length;
    host.hold = held.promise;
    onTestFinished(() => (held.resolve(), void (host.hold = undefined)));
    const watcher = await converse(tendon, { repository: 'private/app' });
    await expect.poll(() => host.requests.slice(before).some((line) => line.includes('/private/app'))).toBe(true);
    expect(workspaces(tendon).some((path) => existsSync(join(path, 'app')))).toBe(false);
    await expect.poll(() => JSON.stringify(watcher.volatile)).toMatch(/STATUS\$SETTING_UP_WORKSPACE/);
    await tendon.kill('SIGKILL');
    held.resolve();
    host.hold = undefined;
    await tendon.start();
    await watcher.until(done);
    expect(outputs(watcher)).toEqual(['app\nhello']);
    expect(errors(watcher)).toEqual([]);
    expect(workspaces(tendon).flatMap((path) => readdirSync(path))).toEqual(['app']);
    expect(readFileSync(join(workspaces(tendon)[0]!, 'app/.git/config'), 'utf8')).not.toContain(TOKEN);
  });
});
