import { expect, it } from 'vitest';
import { pathsInRepository, repositoryFolder } from './workspace-of.ts';

it('SV155: a repository has the folder that it was cloned into', () => {
  const folderOf = (selected_repository: string | null) => repositoryFolder({ selected_repository });
  expect(folderOf('owner/demo')).toBe('demo/');
  expect(folderOf('https://example.org/team/sub/demo.git')).toBe('demo/');
  expect(folderOf(null)).toBeUndefined();
});

it('SV155: its files are named by their paths in it, unless another would have the name', () => {
  const changed = (...paths: string[]) => paths.map((path) => ({ status: 'M' as const, path }));
  expect(pathsInRepository(changed('demo/b', 'demo/sub/a', 'other/x'), 'demo/')).toEqual(changed('b', 'other/x', 'sub/a'));
  expect(pathsInRepository(changed('demo/x', 'x'), 'demo/')).toEqual(changed('demo/x', 'x'));
});
