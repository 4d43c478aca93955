import { expect, it } from 'vitest';
import { readGitRequest } from './git-broker.ts';

const read = (method: string, path: string) => readGitRequest(method, new URL(path, 'http://git.tendon.internal'));

it.each([
  ['GET', '/github.com/o/r.git/info/refs?service=git-upload-pack', 'fetch', 'o/r'],
  ['GET', '/github.com/o/r/info/refs?service=git-receive-pack', 'push', 'o/r'],
  ['POST', '/gitlab.example:8443/group/sub/r.git/git-upload-pack', 'more', 'group/sub/r'],
  ['POST', '/github.com/o/r.git/git-receive-pack', 'more', 'o/r'],
  ['POST', '/github.com/o/r.git/info/lfs/objects/batch', 'lfs', 'o/r'],
  ['GET', '/github.com/o/r.git/info/lfs/locks?limit=1', 'more', 'o/r'],
])('SB75: %s %s is git’s own', (method, path, operation, repository) => {
  expect(read(method, path)).toMatchObject({ operation, repository });
});

it.each([
  ['GET', '/github.com/o/r/info/refs'],
  ['GET', '/github.com/o/r/info/refs?service=other'],
  ['POST', '/github.com/o/r/info/refs?service=git-upload-pack'],
  ['GET', '/github.com/o/r/git-upload-pack'],
  ['GET', '/github.com/settings/tokens'],
  ['GET', '/api.github.com/user'],
  ['DELETE', '/github.com/o/r.git/info/lfs/locks'],
  ['GET', '/github.com/o/../../x/info/refs?service=git-upload-pack#'],
  ['GET', '/user:pw@github.com/o/r/info/refs?service=git-upload-pack'],
  ['GET', '/github.com/o/%2e%2e%2fr/info/refs?service=git-upload-pack'],
  ['GET', '/'],
])('SB75: %s %s is not', (method, path) => {
  expect(read(method, path)).toBeUndefined();
});
