import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { makePlace, processesWith, startTendon, tendon, type Place } from './tendon-child.test-support.ts';

const SLOW = { timeout: 120_000 };

const run = (id: number, command: string) => ({ id, source: 'agent', action: 'run', args: { command } });
const printed = (id: number, content: string, exit_code = 0) => {
  const cause = id - 1;
  return { id, cause, source: 'agent', observation: 'run', content, extras: { command: '', metadata: { exit_code } } };
};
const leftovers = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('tendon-replay-'));

function recording({ workspace }: Place, events: readonly object[]): string {
  const path = join(workspace, 'trajectory-x.json');
  writeFileSync(path, JSON.stringify(events));
  return path;
}

it('TJ14, TJ18: a conversation of the store is done again and comes out equal', SLOW, async () => {
  const place = makePlace();
  const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
  const model = place.script([bash('mkdir made && pwd && date && mktemp'), bash('ls; ls missing'), { text: 'Done.' }]);
  expect(await tendon(place, ['run', '--model', model, 'do it'])).toMatchObject({ code: 0 });
  const store = new DatabaseSync(join(place.home, '.tendon/tendon.db'), { readOnly: true });
  const { id } = store.prepare(`SELECT id FROM records WHERE collection = 'conversations'`).get() as { id: string };
  store.close();
  const before = leftovers();
  const { code, stdout, stderr } = await tendon(place, ['replay', id]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Equal: 2 done again, 2 compared.\n' });
  expect(stderr).toContain('1 of 2: run');
  expect(leftovers()).toEqual(before);
});

it('TJ15, TJ16: the first altered observation is found, and with --all every one', SLOW, async () => {
  const place = makePlace();
  const file = recording(place, [
    { id: 0, source: 'user', action: 'message', args: { content: 'do it' } },
    run(1, 'echo same'),
    printed(2, 'same'),
    run(3, 'echo this'),
    printed(4, 'that'),
    run(5, 'false'),
    printed(6, ''),
  ]);
  const first = await tendon(place, ['replay', file]);
  expect(first).toMatchObject({
    code: 1,
    stdout: 'Event 3, run "echo this": the content differs.\n- that\n+ this\nDifferent: 2 done again, 2 compared.\n',
  });
  const { code, stdout } = await tendon(place, ['replay', file, '--all', '--json']);
  const { differences } = JSON.parse(stdout) as { differences: readonly object[] };
  expect({ code, differences }).toMatchObject({
    code: 1,
    differences: [{ event: 3 }, { event: 5, what: 'exit code', recorded: '0', replayed: '1' }],
  });
});

it('TJ18, TJ19: it is cancelled with Ctrl-C and leaves nothing; what cannot be done is refused in words', SLOW, async () => {
  const place = makePlace();
  const before = leftovers();
  const child = startTendon(place, ['replay', recording(place, [run(0, 'sleep 3171'), printed(1, '')])]);
  await child.until('1 of 1');
  child.signal('SIGINT');
  expect(await child.ended).toBe(130);
  expect(processesWith('sleep 3171')).toEqual([]);
  expect(leftovers()).toEqual(before);
  expect(await tendon(place, ['replay', 'nowhere'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nowhere is no file') as string,
  });
  expect(await tendon(place, ['replay', recording(place, [])])).toMatchObject({ code: 2 });
  const unsafe = await tendon(place, ['replay', 'x'], { env: { RUNTIME: 'none' } });
  expect(unsafe).toMatchObject({ code: 2, stderr: expect.stringContaining('--runtime none') as string });
});
