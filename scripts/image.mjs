#!/usr/bin/env node
// Makes the container image and pulls none: Debian's packages through mmdebstrap, the Node of the lockfile, and the published package.
//   image.mjs [FILE]      default: .cache/image/tendon.tar, for `docker load -i` or `podman load -i`. Needs root, mmdebstrap and tar.
// The files are those of deploy/image/Dockerfile, made by the same script. The same commit and packages give the same digest.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { nodeBinary } from './node-binary.mjs';
import { configOf, layerOf, writeArchive } from './oci-archive.mjs';
import { root, say } from './setup.mjs';

/** Of an image, unpacked. */
const MAX_BYTES = 150_000_000;
const SUITE = 'bookworm';
const PACKAGES = ['bash-static', 'binutils', 'busybox-static', 'ca-certificates', 'libstdc++6', 'mount', 'tini'];
const LEFT_OUT = ['man', 'locale', 'info'];
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tendon/image');

const run = (program, args, options = {}) => execFileSync(program, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], ...options });

/** Everything else in an image changes with each release; this with Debian and Node. */
const OF_RELEASE = ['./opt/tendon/executor/executor', './usr/local/lib/tendon'];

const target = resolve(process.argv[2] ?? join(root, '.cache/image/tendon.tar'));
const node = nodeBinary(root);
run(node, ['scripts/build.mjs', '--if-stale', 'executor', 'web', 'bundle', 'client']);
const work = mkdtempSync(join(tmpdir(), 'tendon-image-'));
try {
  const debian = join(work, 'root');
  mkdirSync(debian);
  run('tar', ['-xf', debianTar(), '-C', debian]);
  run(node, ['scripts/pack.mjs', join(debian, 'opt/package')]);
  copyFileSync(node, join(debian, 'usr/local/bin/node'));
  copyFileSync(join(node, '../../LICENSE'), join(debian, 'usr/local/LICENSE'));
  cpSync(join(root, 'deploy/image/assemble.sh'), join(debian, 'assemble.sh'));
  // Node finds itself by /proc.
  const script = 'mount -t proc proc "$1/proc" && exec chroot "$1" /bin/sh /assemble.sh /image';
  run('unshare', ['--mount', '--pid', '--fork', 'sh', '-c', script, 'sh', debian]);
  const seconds = Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }));
  const files = join(debian, 'image');
  const layers = [layerOf(files, { paths: ['.'], except: OF_RELEASE, seconds }), layerOf(files, { paths: OF_RELEASE, seconds })];
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'));
  const config = configOf(join(root, 'deploy/image/Dockerfile'));
  const architecture = ARCHITECTURES[process.arch];
  const made = writeArchive(target, { layers, config, architecture, tag: `tendon:${version}`, seconds });
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  process.stdout.write(
    `${target}: tendon:${version} ${architecture}, ${megabytes(made.bytes)} unpacked, ${megabytes(made.packedBytes)} to pull, ${made.digest}\n`,
  );
  if (made.bytes > MAX_BYTES) throw new Error(`the image has ${megabytes(made.bytes)}; ${megabytes(MAX_BYTES)} are allowed`);
} catch (error) {
  say(`image: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Made once for each list of packages; remove it to have Debian's newest. */
function debianTar() {
  const key = createHash('sha256')
    .update([SUITE, ...PACKAGES].join(' '))
    .digest('hex')
    .slice(0, 12);
  const path = join(CACHE, `debian-${key}.tar`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const fresh = `${path}.${process.pid}`;
  run('mmdebstrap', [
    ...['--quiet', '--variant=minbase', `--include=${PACKAGES.join(',')}`],
    ...['--aptopt=Acquire::Languages "none"', '--dpkgopt=force-unsafe-io'],
    ...LEFT_OUT.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    ...['--format=tar', SUITE, fresh],
  ]);
  renameSync(fresh, path);
  return path;
}
