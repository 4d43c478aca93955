import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../server.test-support.ts';
import { Notes } from './notes.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures/noting.ts');
const MINE = Array.from({ length: 50 }, (_, n) => `My line ${n}.\n`).join('');

it('EN922: a kill leaves the notes before or after a change, whole, and the next change works', async () => {
  const home = temporaryFolder();
  const path = join(home, 'notes/user.md');
  mkdirSync(join(home, 'notes'));
  for (let kill = 1; kill <= 4; kill++) {
    writeFileSync(path, MINE);
    await killedAfter(home, 7 * kill);
    expect(readFileSync(path, 'utf8').slice(MINE.length)).toMatch(/^- (?:a{300}|b{300})\n$/);
    expect(readFileSync(path, 'utf8').startsWith(MINE)).toBe(true);
    const { take } = new Notes(home, { text: (text) => text }).of({
      id: 'c',
      workspace: '/w',
      selected_repository: null,
      git_provider: null,
    });
    expect(await take({ about: 'user', text: 'Still here.' })).toMatchObject({ ok: true, change: 'added' });
  }
});

/** While it works on the change after those. */
async function killedAfter(home: string, changes: number): Promise<void> {
  const child = spawn(process.execPath, ['--conditions=tendon-source', FIXTURE, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let seen = 0;
  for await (const _line of createInterface({ input: child.stdout })) if (++seen === changes) child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
}
