/** The image as it is shipped, made without pulling anything, in a container that may do nothing. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@tendon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngine, type TestEngine } from '../../packages/runtime/src/testing/containers/index.ts';

const root = join(import.meta.dirname, '../..');
const BUILD_MS = 1_200_000;
const MAX_BYTES = 150_000_000;
const CONFINED = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--tmpfs=/tmp', '--network=host'];

function makeImage(archive: string): void {
  execFileSync(process.execPath, ['scripts/image.mjs', archive], { cwd: root, stdio: 'inherit' });
}

describe('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-image-test-'));
  const archive = join(folder, 'tendon.tar');
  let engine: TestEngine;
  let image: string;

  beforeAll(async () => {
    makeImage(archive);
    engine = await openEngine('podman');
    image = engine
      .command('load', '--input', archive)
      .replace(/^Loaded image: /, '')
      .trim();
  }, BUILD_MS);

  afterAll(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('SV1267: is the same to the byte when it is made anew', { timeout: BUILD_MS }, () => {
    const again = join(folder, 'again.tar');
    makeImage(again);
    expect(readFileSync(again).equals(readFileSync(archive))).toBe(true);
  });

  async function serve(env: Readonly<Record<string, string>> = {}) {
    const port = String(await freePort());
    const given = { HOST: '127.0.0.1', PORT: port, RUNTIME: 'none', ...env };
    const variables = Object.entries(given).map(([name, value]) => `--env=${name}=${value}`);
    const id = engine.command('run', '--detach', ...CONFINED, ...variables, image).trim();
    const url = `http://127.0.0.1:${port}`;
    await expect.poll(() => fetch(`${url}/ready`).then(({ status }) => status, String)).toBe(200);
    return { id, url, run: (...command: readonly string[]) => engine.command('exec', id, ...command).trim() };
  }

  it('SV1254: is small, and serves as a user without rights on a root that nobody can write', async () => {
    const [{ Size, Config }] = JSON.parse(engine.command('inspect', image)) as [{ Size: number; Config: { User: string } }];
    expect(Size).toBeLessThanOrEqual(MAX_BYTES);
    expect(Config.User).toBe('10001:10001');
    const server = await serve();
    expect(server.run('sh', '-c', 'id -u; grep CapEff /proc/1/status')).toMatch(/^10001\nCapEff:\s0+$/);
    expect(server.run('sh', '-c', 'touch /x /usr/x /opt/tendon/x 2>/dev/null || echo no')).toBe('no');
    expect(await (await fetch(server.url)).text()).toContain('<title>');
    const made = await fetch(`${server.url}/api/conversations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ initial_user_msg: 'hello' }),
    });
    const { conversation_id: id } = (await made.json()) as { conversation_id: string };
    const trajectory = async () => (await fetch(`${server.url}/api/conversations/${id}/trajectory`)).text();
    await expect.poll(trajectory).toContain('"source":"agent"');
  });

  it('SV1254: reaps what others leave, is drained by its own command, and ends at once when it is asked to', async () => {
    const server = await serve();
    // Its parent has ended, so it is the first process's when it ends.
    server.run('sh', '-c', '(sleep 0.1 & exec true)');
    await expect.poll(() => server.run('sh', '-c', 'grep -l "^State:.Z" /proc/[0-9]*/status || true')).toBe('');
    expect(server.run('tendon', 'drain')).toContain('handed over');
    expect((await fetch(`${server.url}/ready`)).status).toBe(503);
    engine.command('stop', '--time=60', server.id);
    expect(engine.command('inspect', '--format={{.State.ExitCode}}', server.id).trim()).toBe('0');
  });

  it('SV1255: has what a container of any image is given to be a sandbox, and copies it', () => {
    const injected = '/opt/tendon/executor';
    const busybox = `${injected}/bin/busybox`;
    const volumes = ['--tmpfs=/injected:mode=777,exec'];
    const run = (entry: string, script: string) =>
      engine.command(
        'run',
        '--rm',
        ...CONFINED,
        ...volumes,
        `--entrypoint=${entry}`,
        image,
        ...(entry === busybox ? ['sh'] : []),
        '-c',
        script,
      );
    // It starts, and says what it lacks.
    const started = '/injected/lib/ld.so --library-path /injected/lib /injected/libexec/node /injected/executor/main.mjs --config null';
    expect(run(busybox, `${busybox} cp -R ${injected}/. /injected && ${started} 2>&1 || true`)).toContain('usage: main.mjs --config');
    const files = 'bin/bash executor/main.mjs lib/ld.so libexec/node tools/setsid .complete';
    const listed = run('/bin/sh', `tendon executor --inject /injected && cd /injected && ls -d ${files}`);
    expect(listed.trim().split('\n')).toHaveLength(6);
  });
});
