import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Checkpoints, type CheckpointsOptions } from './checkpoints.ts';

export interface TestWorkspace {
  readonly workspace: string;
  readonly stateDir: string;
  open(options?: Partial<CheckpointsOptions>): Checkpoints;
}

export function makeWorkspace(): TestWorkspace {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-ck-'));
  const workspace = join(folder, 'workspace');
  const stateDir = join(folder, 'state');
  for (const path of [workspace, stateDir]) mkdirSync(path);
  const opened: Checkpoints[] = [];
  onTestFinished(() => {
    for (const each of opened) each.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    workspace,
    stateDir,
    open(options = {}) {
      const checkpoints = new Checkpoints({ workspace, stateDir, isOn: true, excluded: [], ...options });
      opened.push(checkpoints);
      return checkpoints;
    },
  };
}

/** Everything below a folder: kind, mode and content by the bytes of the path. */
export function pictureOf(folder: string): Readonly<Record<string, string>> {
  const picture: Record<string, string> = {};
  const look = (at: Buffer, name: string): void => {
    for (const entry of readdirSync(at, { encoding: 'buffer' })) {
      const path = Buffer.concat([at, Buffer.from('/'), entry]);
      const key = `${name}/${entry.toString('latin1')}`;
      const stats = lstatSync(path);
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) {
        picture[key] = `folder ${mode}`;
        if ((stats.mode & 0o500) !== 0o500) continue;
        look(path, key);
      } else if (stats.isSymbolicLink()) picture[key] = `link ${readlinkSync(path, 'latin1')}`;
      else picture[key] = `file ${mode} ${readFileSync(path, 'latin1')}`;
    }
  };
  look(Buffer.from(folder), '');
  return picture;
}
