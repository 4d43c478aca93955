import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { planFolders, type FolderPlan } from './sandbox-folders.ts';

const [FIRST, SECOND] = ['0123456789abcdef', 'fedcba9876543210'];
const made: { readonly folder: string; readonly plan: FolderPlan }[] = [];

afterEach(() => {
  for (const { folder, plan } of made.splice(0)) for (const path of [folder, shortOf(plan)]) rmSync(path, { recursive: true, force: true });
});

/** The folders of a server of its own, in which one sandbox starts. */
function serverFolders(): FolderPlan {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-folders-'));
  const plan = planFolders(join(folder, 'state'));
  made.push({ folder, plan });
  plan.prepare(FIRST);
  return plan;
}

const shortOf = (plan: FolderPlan): string => dirname(dirname(plan.of('a', FIRST).link));
const pointerOf = (plan: FolderPlan): string => join(shortOf(plan), 'state-root');
const isAbandoned = async (plan: FolderPlan, incarnation = FIRST): Promise<boolean> =>
  (await serverFolders().abandoned()).some((one) => one.incarnation === incarnation && existsSync(shortOf(plan)));

describe('the pointer from the short folder to the state root', () => {
  it('SB530: is not written again where it is right, and replaced as a whole where it is wrong', () => {
    const plan = serverFolders();
    const before = statSync(pointerOf(plan), { bigint: true });
    plan.prepare(SECOND);
    const after = statSync(pointerOf(plan), { bigint: true });
    expect([after.ino, after.ctimeNs]).toEqual([before.ino, before.ctimeNs]);
    writeFileSync(pointerOf(plan), 'another place');
    const reader = openSync(pointerOf(plan), 'r');
    plan.prepare(SECOND);
    expect(readFileSync(reader, 'utf8')).toBe('another place');
    closeSync(reader);
    expect(readFileSync(pointerOf(plan), 'utf8')).toBe(plan.stateRoot);
  });

  it.each([
    ['is empty', (pointer: string) => writeFileSync(pointer, '')],
    ['is missing', (pointer: string) => rmSync(pointer)],
    ['cannot be read', (pointer: string) => (rmSync(pointer), mkdirSync(pointer))],
  ])('SB530: sandboxes are not taken for abandoned where it %s', async (_how, spoil) => {
    const plan = serverFolders();
    spoil(pointerOf(plan));
    expect(await isAbandoned(plan)).toBe(false);
  });

  it('SB24: sandboxes are abandoned where it names a folder that is no more', async () => {
    const plan = serverFolders();
    rmSync(plan.stateRoot, { recursive: true });
    expect(await isAbandoned(plan)).toBe(true);
  });
});

describe('the short folder', () => {
  it('SB531: stays when the last sandbox is removed while another one starts', async () => {
    const plan = serverFolders();
    plan.prepare(SECOND);
    await plan.removeIncarnation(plan.nameOf('a'), FIRST);
    expect(existsSync(dirname(plan.of('b', SECOND).link))).toBe(true);
    expect(readFileSync(pointerOf(plan), 'utf8')).toBe(plan.stateRoot);
  });

  it('SB531: stays when a start comes while the last sandbox is being removed', async () => {
    const plan = serverFolders();
    const removed = plan.removeIncarnation(plan.nameOf('a'), FIRST);
    plan.prepare(SECOND);
    await removed;
    expect(existsSync(dirname(plan.of('b', SECOND).link))).toBe(true);
    expect(readFileSync(pointerOf(plan), 'utf8')).toBe(plan.stateRoot);
  });

  it('SB531: goes with the last one', async () => {
    const plan = serverFolders();
    plan.prepare(SECOND);
    await plan.removeIncarnation(plan.nameOf('a'), FIRST);
    await plan.removeIncarnation(plan.nameOf('b'), SECOND);
    expect(existsSync(shortOf(plan))).toBe(false);
  });
});

it('SB531: a sandbox that begins to start while unused ones are removed keeps its home', async () => {
  const plan = serverFolders();
  const [old, begun] = ['old', 'begun'].map((id) => plan.of(id, SECOND).home) as [string, string];
  mkdirSync(old, { recursive: true });
  await plan.removeUnused(async () => {
    mkdirSync(begun, { recursive: true });
    return new Set();
  });
  expect([existsSync(old), existsSync(begun)]).toEqual([false, true]);
});
