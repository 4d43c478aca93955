import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDockerDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, never, run } from '@tendon/runtime/testing';
import { openEngine } from '@tendon/runtime/testing/containers';
import { itInFull, runs, someOf } from '@tendon/testing';
import { asOrdinaryUser } from './as-ordinary-user.ts';
import { layProject, leavings, NAMES, swapInnerProject } from './protected-paths.ts';
import type { Swapped } from './swap-workspaces.ts';

const STARTS = runs(20, 4);
const IN_WORDS = /did not start[^]*(?:was exchanged while|has been put in the place|Mounts denied|no folder any more|cannot see)/;

describe.each(someOf(['docker', 'podman'] as const, 1))('a person’s project in %s', async (name) => {
  const engine = await openEngine(name);
  afterAll(() => engine.close());
  const driver = () =>
    createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm'), protects: NAMES });

  function place(): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-protected-')));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  it('SB470: what an agent leaves there is run by none of the person’s tools, and nothing stays', async () => {
    const folder = place();
    const project = layProject(folder);
    const before = project.names();
    const sandboxes = createTestSandboxes(driver(), { workspaceOf: async () => ({ hostPath: project.folder }) });
    onTestFinished(() => sandboxes.close());
    const runtime = await sandboxes.runtimes.acquire('c', { signal: never });
    expect((await run(runtime, leavings(join(folder, 'ran-on-the-host')))).output).toBe('');
    expect((await run(runtime, 'echo more >> file && cat file')).output).toBe('x\nmore');
    await expect(runtime.files.write('.git/config', Buffer.from('x'), { signal: never })).rejects.toThrow('SANDBOX_PROTECTED_PATHS');
    project.git('status');
    expect(project.hasRun()).toBe(false);
    await sandboxes.runtimes.stop('c');
    expect(project.names()).toEqual(before);
  });

  itInFull('SB473: a folder of hooks in the top folder is protected; what cannot be is not held either', async () => {
    const project = layProject(place());
    const inner = join(project.folder, 'below/inner');
    execFileSync('git', ['init', '-q', inner]);
    mkdirSync(join(project.folder, '.husky/_'), { recursive: true });
    project.git('config', 'core.hooksPath', '.husky/_');
    const sandboxes = createTestSandboxes(driver(), { workspaceOf: async () => ({ hostPath: project.folder }) });
    onTestFinished(() => sandboxes.close());
    const runtime = await sandboxes.runtimes.acquire('c', { signal: never });
    const tries = ['.husky/pre-commit', '.husky/_/pre-commit'].map((path) => `(echo x > ${path}) 2> /dev/null && echo LEFT ${path}`);
    expect((await run(runtime, [...tries, 'mv .husky moved 2> /dev/null && echo MOVED', 'true'].join('\n'))).output).toBe('');
    const isWhole = name === 'docker' && process.getuid?.() === 0;
    expect([existsSync(join(inner, '.idea')), existsSync(join(project.folder, '.idea'))]).toEqual([isWhole, true]);
  });

  itInFull('SB477: swapped for a link while containers start, a project leads nowhere else', async () => {
    const { swaps, started, escaped, refused } = await swapInnerProject(driver(), { base: join(place(), 'base') }, STARTS);
    expect(escaped).toEqual([]);
    expect(started).toBeGreaterThan(0);
    expect(swaps).toBeGreaterThanOrEqual(10_000);
    for (const refusal of refused) expect(refusal).toMatch(IN_WORDS);
  });

  itInFull('SB470, SB477: nor where the server is an ordinary user who may use the engine', () => {
    const folder = place();
    chmodSync(engine.host.replace(/^unix:\/\//, ''), 0o666);
    const of = `docker=${engine.host}=${engine.image('bookworm')}`;
    const answer = asOrdinaryUser<{ swapped: Swapped; output: string; hasRun: boolean; names: string[] }>(
      'ordinary-user-project.ts',
      folder,
      of,
      String(STARTS),
    );
    const { swapped, output, hasRun, names } = answer;
    expect({ output, hasRun, names }).toEqual({ output: '', hasRun: false, names: [] });
    expect(swapped.escaped).toEqual([]);
    expect(swapped.started).toBeGreaterThan(0);
    for (const refusal of swapped.refused) expect(refusal).toMatch(IN_WORDS);
  });
});
