import { lstat } from 'node:fs/promises';
import { INCARNATION } from '../../incarnation.ts';
import { listContainers } from './engine/containers.ts';
import type { EngineClient } from './engine/engine-client.ts';
import { INCARNATION_LABEL, OWNER_LABEL, UID_LABEL } from './engine/labels.ts';

/** An engine that hangs keeps nobody waiting for what it may have left. */
const DEADLINE_MS = 5000;

/** Incarnations that only the engine knows of: of this state root, or of one of this user that is no more. None while it is away. */
export async function strayIncarnations(engine: EngineClient, stateRoot: string): Promise<readonly string[]> {
  const uid = String(process.getuid?.() ?? 0);
  const found: string[] = [];
  for (const { Labels } of await listContainers(engine, DEADLINE_MS).catch(() => [])) {
    const { [OWNER_LABEL]: owner, [INCARNATION_LABEL]: incarnation } = Labels;
    // Images have labels too: only what can be one of ours is looked for on this machine, and ended.
    if (owner === undefined || !INCARNATION.test(incarnation ?? '') || Labels[UID_LABEL] !== uid) continue;
    if (owner === stateRoot || (await isGone(owner))) found.push(incarnation!);
  }
  return found;
}

/** Certainly: a folder that cannot be looked at may still be somebody's. */
async function isGone(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
