/** What the page says of a turn, held against git and the table of processes: neither knows anything of our log. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromJson, type Event, type WorkspaceChanges } from '@tendon/protocol';
import { runs } from '@tendon/testing';
import { TendonProcess, Watcher } from '@tendon/testing/servers';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';

const FILES = ['a.txt', 'b.txt', 'src/c.ts', 'src/d é.ts', 'src/deep/e'];
/** All that a shell does to a tree; each leaves it as it was where it does not apply. */
const WORK = [
  (file: string, n: number) => `printf 'line %s\\n' ${n} ${n + 1} >> '${file}'`,
  (file: string, n: number) => `sed -i '${1 + (n % 3)}d' '${file}'`,
  (file: string) => `rm -f '${file}'`,
  (file: string, n: number) => `mv '${file}' 'moved ${n}'`,
  (file: string) => `chmod +x '${file}'`,
  (file: string, n: number) => `mkdir -p new/${n} && printf 'no end of line' > new/${n}/x`,
  (file: string) => `printf '\\000\\001' > '${file}'`,
  () => 'git add -A && git -c user.name=t -c user.email=t@t commit -qm step',
  (file: string) => `git checkout -q HEAD -- '${file}'`,
  (file: string, n: number) => `ln -sfn '${file}' link${n % 2}`,
];
const step = fc
  .tuple(fc.constantFrom(...WORK), fc.constantFrom(...FILES), fc.nat(9))
  .map(([work, file, n]) => `(${work(file, n)}) 2>/dev/null; true`);

/** The words of the page, from its own modules, which expect the address of a page. */
async function page() {
  vi.stubGlobal('location', new URL('http://localhost'));
  onTestFinished(() => void vi.unstubAllGlobals());
  const checker = new URL('../../packages/web/src/stream/untrue-sentences.test-support.ts', import.meta.url).href;
  return (await import(checker)) as Readonly<
    Record<'untrueSentences' | 'factsOfCommands', (events: readonly Event[]) => readonly string[]>
  >;
}

const bash = (args: object) => ({ toolCalls: [{ name: 'execute_bash', arguments: args }] });

it('CL1200: what the page says has changed is what git says, and what it says runs is in the table of processes', async () => {
  const base = mkdtempSync(join(tmpdir(), 'tendon-true-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const git = (...args: string[]): string => {
    const env = { ...process.env, GIT_INDEX_FILE: join(base, '.git/index-of-the-test') };
    return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'core.quotePath=false', ...args], {
      cwd: base,
      env,
      encoding: 'utf8',
    });
  };
  git('init', '-q');
  for (const file of FILES) {
    spawnSync('mkdir', ['-p', join(base, file, '..')]);
    writeFileSync(join(base, file), 'one\ntwo\nthree\nfour\n');
  }
  git('add', '-A');
  git('commit', '-qm', 'start');
  const start = git('rev-parse', 'HEAD').trim();
  spawnSync('cp', [join(base, '.git/index-of-the-test'), join(base, '.git/index')]);
  const turns = fc.sample(fc.array(step, { minLength: 3, maxLength: 8 }), runs(12, 2));
  const seconds = 90_000 + (process.pid % 1000);
  const script = [
    ...turns.flatMap((commands) => [...commands.map((command) => bash({ command })), { text: 'done' }]),
    bash({ command: `sleep ${seconds}` }),
    { text: 'it runs' },
    bash({ command: 'C-c', is_input: 'true' }),
    { text: 'it is over' },
  ];
  const env = { RUNTIME: 'local', WORKSPACE_BASE: base, SANDBOX_NO_OUTPUT_SECONDS: '1' };
  const tendon = await TendonProcess.scripted(script, env);
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  const ask = async (): Promise<void> => {
    const from = watcher.lastId;
    watcher.send('message', { content: 'Go on.' });
    await watcher.until((event) => event.id > from && event.extras?.agent_state === 'awaiting_user_input');
  };

  for (const commands of turns) {
    await ask();
    const shown = (await tendon.json<WorkspaceChanges>(`/api/conversations/${id}/changes?against=start`)).files;
    git('add', '-A');
    // Of a link, the page counts no lines.
    const isLink = (row: string): boolean => /\tlink\d$/.test(row);
    const known = git('diff', '--cached', '--numstat', '--no-renames', '-z', start)
      .split('\0')
      .filter(Boolean)
      .map((row) => (isLink(row) ? row.replace(/^\d+\t\d+/, '-\t-') : row));
    const lines = shown.map(({ path, added, removed }) => `${added ?? '-'}\t${removed ?? '-'}\t${path}`);
    expect(lines.toSorted(), commands.join('\n')).toEqual(known.toSorted());
  }

  const runsOn = (): boolean => spawnSync('pgrep', ['-f', `^sleep ${seconds}$`]).status === 0;
  const events = async (): Promise<readonly Event[]> => {
    const { events: all } = await tendon.json<{ events: readonly object[] }>(`/api/conversations/${id}/events?limit=100`);
    return all.map((event) => fromJson(event as Parameters<typeof fromJson>[0]));
  };
  const { untrueSentences, factsOfCommands } = await page();
  const newest = async (): Promise<string | undefined> => factsOfCommands(await events()).at(-1);
  await ask();
  expect([await newest(), runsOn()]).toEqual([expect.stringMatching(/running/), true]);
  await ask();
  expect([await newest(), runsOn()]).toEqual([expect.not.stringMatching(/running/), false]);
  expect(untrueSentences(await events())).toEqual([]);
});
