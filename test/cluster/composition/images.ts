/** The images of deploy/compose, made without pulling anything: stand-ins for those of others, and our own as deploy/image/Dockerfile makes them. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestEngine } from '../../../packages/runtime/src/testing/containers/index.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tendon/containers');
/** All that the Dockerfile installs, which then is there already, with the database and the proxy. */
const PACKAGES = [
  ...['bash-static', 'binutils', 'bubblewrap', 'busybox-static', 'ca-certificates', 'caddy', 'curl', 'git', 'libstdc++6', 'mount'],
  ...['postgresql', 'procps', 'python3', 'ripgrep', 'tini', 'util-linux'],
];
/** Made once for each list of packages. */
const KEY = createHash('sha256').update(PACKAGES.join(' ')).digest('hex').slice(0, 12);
const DEBIAN = `tendon-test/debian:${KEY}`;

/** Makes them as `compose.yaml` names them. */
export function makeImages(engine: TestEngine): void {
  const node = /^FROM (node:\S+) AS files$/m.exec(readFileSync(join(ROOT, 'deploy/image/Dockerfile'), 'utf8'))![1]!;
  const folder = mkdtempSync(join(tmpdir(), 'tendon-composition-'));
  const build = (...args: readonly string[]): void => void engine.command('build', '--quiet', '--network=none', ...args, folder);
  try {
    if (engine.command('images', '--quiet', DEBIAN).trim() === '') engine.command('import', debianTar(), DEBIAN);
    engine.command('tag', DEBIAN, 'debian:bookworm-slim');
    const program = process.execPath;
    const ours = ['Dockerfile', 'postgres-entry.sh'].map((name) => join(import.meta.dirname, name));
    for (const file of [...ours, program, join(program, '../../LICENSE')]) cpSync(file, join(folder, file.split('/').at(-1)!));
    for (const tag of [node, 'postgres:16', 'caddy:2'])
      build('--build-arg', `DEBIAN=${DEBIAN}`, '--target', tag.split(':')[0]!, '--tag', tag);

    run(program, 'scripts/build.mjs', '--if-stale', 'executor', 'web', 'bundle', 'client');
    run(program, 'scripts/pack.mjs', join(folder, '.cache/package'));
    cpSync(join(ROOT, 'deploy/image'), join(folder, 'deploy/image'), { recursive: true });
    for (const target of [
      ['--tag', 'tendon:0.1.0'],
      ['--target', 'executor', '--tag', 'tendon-executor:0.1.0'],
    ])
      build('--file', join(folder, 'deploy/image/Dockerfile'), ...target);
  } finally {
    // Those of an earlier build.
    engine.command('image', 'prune', '--force');
    rmSync(folder, { recursive: true, force: true });
  }
}

function debianTar(): string {
  const path = join(CACHE, `debian-${KEY}.tar`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const fresh = `${path}.${process.pid}`;
  const leftOut = ['man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const options = ['--quiet', '--variant=minbase', '--format=tar', '--aptopt=Acquire::Languages "none"', '--dpkgopt=force-unsafe-io'];
  run('mmdebstrap', ...options, `--include=${PACKAGES.join(',')}`, ...leftOut, 'bookworm', fresh);
  renameSync(fresh, path);
  return path;
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
}
