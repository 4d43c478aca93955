import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, afterAll, expect, it, onTestFinished } from 'vitest';
import { createDockerDriver } from '@tendon/runtime';
import { executorFolder } from '@tendon/runtime/testing';
import { engineOfRun, openEngine } from '@tendon/runtime/testing/containers';
import { itInFull, runs } from '@tendon/testing';
import { asOrdinaryUser } from './as-ordinary-user.ts';
import { swapInBetween, swapWorkspaces, type Swapped } from './swap-workspaces.ts';

const STARTS = runs(20, 4);
const IN_WORDS =
  /^(?![^]*written outside)The sandbox did not start \([^)]+\): [^]*(?:a link is in its place|another folder has been put in the place|Mounts denied|cannot see)/;

describe(`workspaces of ${engineOfRun()}`, async () => {
  const engine = await openEngine(engineOfRun());
  afterAll(() => engine.close());
  const driver = () => createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm') });

  function place(): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-swap-')));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  it('SB300: what was opened is mounted, whatever its path leads to by then', async () => {
    const folder = place();
    expect(await swapInBetween(driver(), { base: join(folder, 'base'), folder })).toMatch(/^real\s+written$/);
  });

  itInFull('SB301: swapped for a link while containers start, they lead nowhere else', async () => {
    const folder = place();
    const { swaps, started, real, refused, escaped } = await swapWorkspaces(driver(), { base: join(folder, 'base'), folder }, STARTS);
    expect(escaped).toEqual([]);
    expect(swaps).toBeGreaterThanOrEqual(10_000);
    expect(started).toBeGreaterThan(0);
    expect(real).toBe(started);
    for (const refusal of refused) expect(refusal).toMatch(IN_WORDS);
  });

  itInFull('SB301: nor where the server is an ordinary user who may use the engine', () => {
    const socket = engine.host.replace(/^unix:\/\//, '');
    chmodSync(socket, 0o666);
    const of = `docker=${engine.host}=${engine.image('bookworm')}`;
    const { between, swapped } = asOrdinaryUser<{ between: string; swapped: Swapped }>(
      'ordinary-user-swaps.ts',
      place(),
      of,
      String(STARTS),
    );
    expect(between).toMatch(IN_WORDS);
    expect(swapped.escaped).toEqual([]);
    expect(swapped.real).toBe(swapped.started);
    expect(swapped.started + swapped.refused.length).toBeGreaterThan(0);
    for (const refusal of swapped.refused) expect(refusal).toMatch(IN_WORDS);
  });
});
