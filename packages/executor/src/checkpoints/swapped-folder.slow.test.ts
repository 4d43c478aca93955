import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeWorkspace } from './checkpoints.test-support.ts';

it(
  'CK708: a folder that is replaced by a link in the meantime leads no checkpoint and no restore out of the workspace',
  { timeout: 60_000 },
  () => {
    const { workspace, stateDir } = makeWorkspace();
    const outside = join(workspace, '../outside');
    for (const path of [join(workspace, 'd'), outside]) mkdirSync(path);
    writeFileSync(join(workspace, 'd/key'), 'of the workspace');
    writeFileSync(join(outside, 'key'), 'of-somebody-else-3b1d');
    const fixture = join(import.meta.dirname, 'fixtures/swapped-folder.ts');
    const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=tendon-source', fixture, workspace, stateDir, outside], {
      encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual([JSON.stringify({ swaps: 2, outside: ['key'] }), '']);
    expect(readFileSync(join(outside, 'key'), 'utf8')).toBe('of-somebody-else-3b1d');
    expect(readFileSync(join(stateDir, 'checkpoints.db')).includes('of-somebody-else-3b1d')).toBe(false);
  },
);
