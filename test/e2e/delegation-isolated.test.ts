/** Agents that work at the same time, each in a copy of the workspace: real sandboxes and git, through a crash of the server. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startScriptedModel } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';

interface LogEvent {
  readonly observation?: string;
  readonly cause?: number;
  readonly content?: string;
  readonly extras?: {
    readonly agent_state?: string;
    readonly outputs?: { readonly conversation_id: string; readonly branch?: string; readonly changed?: string };
  };
}

const WAIT = { timeout: 100_000 };
const FINISH = { call: 'finish', args: { message: 'the part is done' } };
const bash = (command: string) => ({ call: 'execute_bash', args: { command } });

const BEGIN = `echo beside > beside; mkdir repo; (cd repo; git init -q -b main && git config user.name a && git config user.email a@b
echo one > a; echo two > b; git add -A; git commit -qm first; echo not committed > c)`;
const MERGE = `git apply .tendon/delegated/*.patch; cd repo
for branch in $(git for-each-ref --format='%(refname:short)' refs/heads/tendon); do git cherry-pick $branch >/dev/null; done
cat ../beside a b c; ls -1 ..; git log --format=%an | sort -u`;

it(
  'EN950, EN951, EN952, EN953: two at once, killed at work and when they hand over, give a branch each; an unchanged copy is removed',
  WAIT,
  async () => {
    const model = await startScriptedModel();
    onTestFinished(() => model.close());
    const tendon = await TendonProcess.start({ LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'key-of-no-one', LLM_BASE_URL: model.url });
    onTestFinished(() => tendon.remove());
    const parts = [
      model.script([bash('cat repo/c >> repo/a; touch begun; until test -e go; do sleep 0.05; done; rm -f begun go'), FINISH]),
      model.script([bash('echo changed > beside; cd repo; git branch --show-current >> b; git commit -qam own; ls ../begun'), FINISH]),
      model.script([bash('cat repo/a'), FINISH]),
    ];
    const calls = parts.map((task) => ({ call: 'delegate', args: { task, isolated: true } }));
    const whole = model.script([bash(BEGIN), { calls }, bash(MERGE), FINISH]);
    const api = (path: string, init?: RequestInit) => fetch(`${tendon.url}/api/conversations${path}`, init);
    const headers = { 'content-type': 'application/json' };
    const made = await api('', { method: 'POST', headers, body: JSON.stringify({ initial_user_msg: whole }) });
    const { conversation_id: id } = (await made.json()) as { conversation_id: string };
    const workspaces = join(tendon.home, 'workspaces');
    const folders = (): readonly string[] => (existsSync(workspaces) ? readdirSync(workspaces) : []);
    const atWork = (): string | undefined => folders().find((each) => existsSync(join(workspaces, each, 'begun')));
    await expect.poll(atWork, WAIT).toBeDefined();
    const first = atWork()!;
    await tendon.kill('SIGKILL');
    await tendon.start();
    writeFileSync(join(workspaces, first, 'go'), '');
    await expect.poll(() => existsSync(join(workspaces, first, 'repo/.git/tendon.bundle')), WAIT).toBe(true);
    await tendon.kill('SIGKILL');
    await tendon.start();

    const events = async (): Promise<readonly LogEvent[]> =>
      ((await (await api(`/${id}/events?limit=100`)).json()) as { events: readonly LogEvent[] }).events;
    await expect.poll(async () => (await events()).some(({ extras }) => extras?.agent_state === 'finished'), WAIT).toBe(true);
    const all = await events();
    const answers = all.filter(({ observation }) => observation === 'delegate').toSorted((a, b) => a.cause! - b.cause!);
    const reports = answers.map(({ content = '', extras }) => ({ content, ...extras! }));
    const branches = reports.map(({ outputs }) => outputs?.branch);
    expect(branches).toEqual([`tendon/${first.slice(0, 8)}`, expect.stringMatching(/^tendon\/[0-9a-f]{8}$/), undefined]);
    expect(reports.map(({ outputs }) => outputs?.changed?.split('\n').filter((line) => !line.includes('changed,')))).toEqual([
      ['repo/', ' a | 1 +'],
      ['repo/', ' b | 1 +', ' beside | 2 +-'],
      undefined,
    ]);
    expect(reports[0]!.content).toContain(`..${branches[0]}\``);
    expect(reports[2]!.content).toContain('has changed no files');
    expect(all.findLast(({ observation }) => observation === 'run')?.content?.split('\n')).toEqual([
      'changed',
      'one',
      'not committed',
      'two',
      branches[1],
      'not committed',
      'beside',
      'repo',
      'a',
    ]);
    const copies = reports.map(({ outputs }) => outputs!.conversation_id);
    expect(folders().toSorted()).toEqual([id, ...copies.slice(0, 2)].toSorted());
    expect(await (await api(`/${id}`, { method: 'DELETE' })).json()).toBe(true);
    expect(folders()).toEqual([]);
  },
);
