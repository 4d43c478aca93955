/** What sandboxes of one ordinary user take from each other: all of them are that user to the kernel, which counts some things by user. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { NEIGHBOUR } from './escape/threats/neighbour.ts';

const USER = { uid: 12_347, gid: 12_347 };
/** No limit of a process and no namespace has a share of its own of it: docs/contracts/security.md, neighbours. */
const NOT_HELD: Readonly<Record<string, readonly unknown[]>> = {
  'all-pipes': [expect.stringMatching(/no pipe: a small one$/)],
  'all-passed-on': [expect.stringMatching(/no descriptors to pass on: .*Too many references/)],
};

let got: Readonly<Record<string, string>> = {};

beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-neighbour-'));
  const account = process.getuid?.() === 0 ? USER : {};
  if ('uid' in account) chownSync(folder, USER.uid, USER.gid);
  try {
    const script = join(import.meta.dirname, 'ordinary-user-neighbour.ts');
    const env = { HOME: folder, PATH: process.env.PATH };
    const answer = execFileSync(process.execPath, ['--conditions=tendon-source', script, folder], { ...account, env, encoding: 'utf8' });
    got = JSON.parse(answer) as typeof got;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 600_000);

it.each(NEIGHBOUR)('SB801: of an ordinary user, beside $id', ({ id }) => {
  const escaped = got[id]!.split('\n').filter((line) => line.startsWith('ESCAPED'));
  expect(escaped).toEqual(NOT_HELD[id] ?? []);
});
