import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { removeFolder } from './remove-folder.ts';

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'tendon-remove-'));
}

itInFull('SB511: removes trees that no path can name, with names that are no text, and nothing that a link leads to', async () => {
  const outside = folder();
  writeFileSync(join(outside, 'file'), '');
  const top = folder();
  symlinkSync(outside, join(top, 'link'));
  for (const name of ['a', 'b']) {
    // A shell goes where no path leads.
    const go = `mkdir ${name} && cd ${name} && for i in $(seq 60); do mkdir ${name.repeat(200)} && cd -P ${name.repeat(200)} || exit 1; done; ln -s ${outside} link; touch "$(printf '\\377\\376')"`;
    execFileSync('bash', ['-c', go], { cwd: top });
  }
  await removeFolder(top);
  expect([existsSync(top), existsSync(join(outside, 'file'))]).toEqual([false, true]);
  await removeFolder(outside);
});

it('SB511: removes folders that their owner may not enter, and what is not there', async () => {
  const top = folder();
  mkdirSync(join(top, 'closed/within'), { recursive: true });
  writeFileSync(join(top, 'closed/within/file'), '');
  for (const path of ['closed/within', 'closed', '']) chmodSync(join(top, path), 0);
  await removeFolder(top);
  await removeFolder(top);
  expect(existsSync(top)).toBe(false);
});
