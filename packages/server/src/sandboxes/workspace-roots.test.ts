import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { outsideRoots, workspaceRoots } from './workspace-roots.ts';

function folders() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-roots-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  for (const name of ['home', 'real/project', 'shared/inner', 'secret/b']) mkdirSync(join(top, name), { recursive: true });
  const at = (path: string): string => join(top, path);
  const roots = (workspaceBase: string | undefined, allowedDirs: readonly string[] = []) =>
    workspaceRoots({ home: at('home'), workspaceBase, allowedDirs });
  return { at, roots };
}

it('SV307: a link that the operator has put into a root is followed, once', async () => {
  const { at, roots } = folders();
  symlinkSync(at('real'), at('linked'));
  const found = await roots(at('linked/project'), [at('linked/later')]);
  expect(found).toMatchObject({ base: at('real/project'), allowed: [at('real/later')], own: at('home/workspaces') });
  for (const path of ['real/project', 'real/project/deep', 'real/later', 'home/workspaces/c'])
    expect(outsideRoots(at(path), found)).toBeUndefined();
});

it('SV307: a link within another root is not: an agent may have put it there', async () => {
  const { at, roots } = folders();
  symlinkSync(at('secret'), at('shared/a'));
  const found = await roots(at('shared'), [at('shared/a/b')]);
  expect(found.allowed).toEqual([at('shared/a/b')]);
  expect(outsideRoots(at('secret/b'), found)).toContain('TENDON_ALLOWED_DIRS');
});

it('SV309: what is outside, of the system, of the server or no real path is refused in words', async () => {
  const { at, roots } = folders();
  const found = await roots(at('real'));
  expect(outsideRoots(at('shared'), found)).toContain('TENDON_ALLOWED_DIRS');
  expect(outsideRoots(at('home'), found)).toContain('TENDON_ALLOWED_DIRS');
  expect(outsideRoots(at('home/workspaces'), found)).toContain('TENDON_ALLOWED_DIRS');
  expect(outsideRoots(`${at('real')}/../shared`, found)).toContain('not the real path');
  expect(outsideRoots('/etc', await roots('/etc'))).toContain('folder of the system');
});
