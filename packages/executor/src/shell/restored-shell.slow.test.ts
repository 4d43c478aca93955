import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

async function restored(shell: string): Promise<TestExecutor> {
  const stateDir = mkdtempSync(join(tmpdir(), 'tendon-restored-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  writeFileSync(join(stateDir, 'session.json'), JSON.stringify({ workingDir: '/', shell, notes: {} }));
  const executor = await startExecutor({ folders: { stateDir } });
  onTestFinished(() => executor.kill());
  return executor;
}

const LEFT = "declare -- STAYS='yes'\ngreet () { echo hello; }\n";

it.each([
  { by: 'a release that frames commands otherwise', left: '__tendon_begin () { return 1; }\n__tendon_end () { echo older; }\n' },
  { by: 'a shell whose aliases are words of its framing', left: "shopt -s expand_aliases\nalias builtin='false' local='false'\n" },
])('RT723: a shell goes on with what was left by $by', { timeout: 60_000 }, async ({ left }) => {
  const executor = await restored(LEFT + left);
  expect(await executor.run('\\echo "$STAYS $(greet) ${__tendon_own-none}"')).toMatchObject({
    content: 'yes hello none',
    exitCode: 0,
  });
  expect(await executor.run('false')).toMatchObject({ content: '', exitCode: 1 });
});
