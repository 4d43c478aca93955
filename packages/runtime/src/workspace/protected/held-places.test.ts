import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { holdFolder } from '../held-folder.ts';
import { holdPlaces, releasePlaces, type HeldPlace } from './held-places.ts';

const SANDBOX = '0123456789abcdef';
const NOTE = 'held-places.json';

async function placed() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-places-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [stateRoot, project] = [join(root, 'state'), join(root, 'project')];
  mkdirSync(project);
  const held = await holdFolder(project);
  onTestFinished(() => held.close());
  const hostFolder = join(stateRoot, 'fedcba9876543210/0000000000000001/host');
  const missing = [{ state: 'missing', path: '.idea', place: { kind: 'folder' } }] as const;
  return {
    ...{ stateRoot, project },
    hold: () => holdPlaces(held, { missing, there: [], stateRoot, hostFolder }),
    release: () => releasePlaces(stateRoot, hostFolder),
    folder(name: string): string {
      const folder = join(stateRoot, name, 'host');
      mkdirSync(folder, { recursive: true });
      return folder;
    },
  };
}

const LEFT: Record<string, (note: string) => void> = {
  'a pipe': (note) => void execFileSync('mkfifo', [note]),
  'a link': (note) => symlinkSync('/etc/passwd', note),
  'a folder': (note) => mkdirSync(note),
  'a list of nothing': (note) => writeFileSync(note, '[null]'),
  nothing: (note) => writeFileSync(note, 'null'),
  'a place without a path': (note) => writeFileSync(note, '[{"kind":"folder"}]'),
  'more than fits': (note) => {
    writeFileSync(note, '[]');
    truncateSync(note, 2 ** 40);
  },
};

it.each(Object.keys(LEFT))('SB474: %s where a note belongs holds up no start and no end of another sandbox', async (what) => {
  const { project, folder, hold, release } = await placed();
  for (const name of [`${SANDBOX}/home`, `${SANDBOX}/0000000000000002`]) LEFT[what]!(join(folder(name), NOTE));
  expect(await hold()).toEqual(['.idea']);
  await release();
  expect(readdirSync(project)).toEqual([]);
});

it('SB474: only what the server has written down keeps a place: nothing in what agents write is read', async () => {
  const { project, folder, hold, release } = await placed();
  const note = JSON.stringify([{ path: join(project, '.idea'), kind: 'folder' } satisfies HeldPlace]);
  for (const name of ['home', 'state', 'workspace']) writeFileSync(join(folder(`${SANDBOX}/${name}`), NOTE), note);
  const real = join(folder(`${SANDBOX}/0000000000000002`), NOTE);
  writeFileSync(real, note);
  await hold();
  await release();
  expect(readdirSync(project)).toEqual(['.idea']);
  rmSync(real);
  await hold();
  await release();
  expect(existsSync(join(project, '.idea'))).toBe(false);
});
