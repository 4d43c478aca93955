import { anyCharacter } from '@tendon/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { surroundingsIn } from './survey-workspace.ts';

const records = (...fields: readonly string[]): string => fields.map((field) => `${field}\0`).join('');

it('EN802: what a survey prints becomes the repository, facts and nested instructions', () => {
  const text =
    records('o', 'Debian GNU/Linux 12', 'x86_64', '2', 'p', 'git', 'git version 2.39.5', 'p', 'rg', '', 'n', 'app/web/AGENTS.md') +
    records('r', 'app/', 'https://me:token@git.example.com/acme/app.git', 'main', 's', 'app/', '2 1') +
    records('r', 'lib/', 'git@git.example.com:acme/lib.git', '', 's', 'lib/', '0 0');
  expect(surroundingsIn(text, '/workspace')).toEqual({
    repository: { name: 'acme/app', folder: '/workspace/app', branch: 'main' },
    facts: [
      'Git: acme/app in /workspace/app, on main, 2 changed and 1 new files',
      'Git: acme/lib in /workspace/lib, on no branch, clean',
      'System: Debian GNU/Linux 12, x86_64, 2 CPUs',
      'Programs: git 2.39.5, rg',
    ],
    nested: ['app/web/AGENTS.md'],
  });
});

it('EN802: a survey that was cut off, or printed anything else, is what it is so far; no name or password of an address is in it', () => {
  expect(surroundingsIn(records('o', 'Alpine', 'aarch64', '1', 'r', '.', '', 'main') + 's\0.', '/w').facts).toEqual([
    'Git: workspace in /w, on main',
    'System: Alpine, aarch64, 1 CPU',
  ]);
  const field = fc.string({ unit: anyCharacter });
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom('o', 'p', 'n', 'r', 's'), field)), (fields) => {
      const { facts, nested } = surroundingsIn(records(...fields), '/w');
      expect(JSON.stringify([facts, nested])).not.toMatch(/\\n/);
    }),
  );
  const remote = fc.constantFrom('https://u:secret@h/a/b', 'ssh://u:secret@h:22/a/b.git', 'https://secret@h/a/b/', 'u:secret@h:a/b');
  fc.assert(fc.property(remote, (url) => !JSON.stringify(surroundingsIn(records('r', '.', url, 'main'), '/w')).includes('secret')));
});
