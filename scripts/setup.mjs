// Brings a fresh clone to a state in which it can run: dependencies from the lockfile, a recent Node, and what only the
// system's package manager has. Idempotent; says what it does; costs a few milliseconds when nothing is to do.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeBinary } from './node-binary.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** What each purpose needs of the system: a program (or a file) to look for, its Debian packages, and what is missing without it. */
const SYSTEM = [
  {
    program: 'bwrap',
    packages: ['bubblewrap'],
    purposes: ['start', 'test'],
    without: 'no sandbox: the local driver refuses to start (RUNTIME=none runs commands unprotected, as you)',
  },
  { program: 'unshare', packages: ['util-linux'], purposes: ['start', 'test'], without: 'commands in the sandbox can end its executor' },
  { program: 'perl', packages: ['perl-base'], purposes: ['start', 'test'], without: 'a server that runs as root has no sandbox' },
  { program: 'dockerd', packages: ['docker.io'], purposes: ['test'], without: 'the sandboxes in containers cannot be tested with Docker' },
  {
    program: 'podman',
    packages: ['podman', 'runc'],
    purposes: ['test'],
    without: 'the sandboxes in containers cannot be tested with Podman',
  },
  { program: 'mmdebstrap', packages: ['mmdebstrap'], purposes: ['test'], without: 'the tests cannot make images for containers' },
  {
    program: 'bash-static',
    packages: ['bash-static', 'busybox-static'],
    purposes: process.env.RUNTIME === 'docker' ? ['start', 'test'] : ['test'],
    without: 'sandboxes in containers (RUNTIME=docker) do not start',
  },
  {
    program: 'pg_createcluster',
    packages: ['postgresql'],
    purposes: ['test'],
    without: 'the storage in Postgres cannot be tested',
  },
  { program: 'pgbouncer', packages: ['pgbouncer'], purposes: ['test'], without: 'Postgres behind a pooler cannot be tested' },
  {
    program: 'nginx',
    packages: ['nginx-light'],
    purposes: ['test:long'],
    without: 'the documented configuration of nginx cannot be tested',
  },
  { program: 'caddy', packages: ['caddy'], purposes: ['test:long'], without: 'the documented configuration of Caddy cannot be tested' },
  { program: 'git', packages: ['git'], purposes: ['test'], without: 'the demo cannot make repositories' },
  { program: 'curl', packages: ['curl'], purposes: ['test'], without: 'the tests cannot ask for pages from inside the sandbox' },
  { program: 'rg', packages: ['ripgrep'], purposes: ['test'], without: 'the tests cannot search files with ripgrep' },
  { program: 'strace', packages: ['strace'], purposes: ['test'], without: 'the tests cannot count what is synced' },
  { program: 'openssl', packages: ['openssl'], purposes: ['test'], without: 'the tests cannot make certificates' },
  { program: 'less', packages: ['less'], purposes: ['test'], without: 'the tests cannot page' },
  { program: 'nano', packages: ['nano'], purposes: ['test'], without: 'the tests cannot edit on a screen' },
  { program: 'tmux', packages: ['tmux'], purposes: ['test'], without: 'the tests cannot split a screen' },
  { program: 'vim.tiny', packages: ['vim-tiny'], purposes: ['test'], without: 'the tests cannot edit on a screen' },
  { program: 'script', packages: ['bsdutils'], purposes: ['test'], without: 'the tests cannot put a terminal into a terminal' },
  { program: 'ps', packages: ['procps'], purposes: ['test'], without: 'the tests cannot count processes' },
  {
    program: 'ipykernel',
    file: '/usr/lib/python3/dist-packages/ipykernel',
    packages: ['python3-ipykernel'],
    purposes: ['test'],
    without: 'the tests of Jupyter install it with pip, or fail',
  },
  {
    program: 'pip',
    file: '/usr/lib/python3/dist-packages/pip',
    packages: ['python3-pip'],
    purposes: ['test'],
    without: 'the tests cannot install packages for Python',
  },
  {
    program: 'chromium',
    packages: ['chromium', 'fonts-inter', 'fonts-jetbrains-mono'],
    purposes: ['test'],
    without: 'the agent’s browser cannot be tested',
  },
  {
    program: 'chromium-headless-shell',
    packages: ['chromium-headless-shell'],
    purposes: ['test'],
    without: 'the web app is tested in the whole Chromium, which takes twice the processor time',
  },
];

export function say(text) {
  process.stderr.write(`${text}\n`);
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder && existsSync(join(folder, program)));
}

function isThere({ program, file }) {
  return file === undefined ? onPath(program) : existsSync(file);
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 'inherit'], ...options });
  if (result.error) throw new Error(`${command} did not start: ${result.error.message}`);
  return result.status === 0;
}

// Not `npm ci`: it refuses a lockfile without the binaries of other systems, which not every registry has. The versions are the same.
const NPM = 'npm install --no-save --loglevel=error --include=dev --include=optional';
const WAIT = '-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3';
const APT = `apt-get install -y -qq --no-install-recommends ${WAIT}`;
/** One by one where a system does not have them all. */
const aptCommand = (packages) =>
  `apt-get update -qq ${WAIT}; ${APT} ${packages.join(' ')} || for each in ${packages.join(' ')}; do ${APT} $each; done`;

/** What apt installs is on its way when this returns, beside the dependencies: both spend a good part of it waiting. Resolves when it is there. */
async function installPackages(purpose) {
  // The long tests need what all tests do, and more.
  const isMeant = (each) => purpose === each || purpose.startsWith(`${each}:`);
  const isMissing = (need) => need.purposes.some(isMeant) && !isThere(need);
  const missing = SYSTEM.filter(isMissing);
  const sayMissing = () => {
    for (const need of missing.filter(isMissing))
      say(`Missing: ${need.program}. Install it with: apt-get install ${need.packages.join(' ')}. Without it ${need.without}.`);
  };
  const usesApt = missing.length > 0 && process.platform === 'linux' && process.getuid?.() === 0 && onPath('apt-get');
  if (!usesApt) return sayMissing();
  const packages = missing.flatMap((need) => need.packages);
  say(`Installing ${packages.join(', ')} with apt …`);
  const started = Date.now();
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = spawn('sh', ['-c', aptCommand(packages)], { cwd: root, env, stdio: ['ignore', 2, 'inherit'] });
  await once(apt, 'close');
  say(`apt took ${secondsSince(started)} s.`);
  sayMissing();
}

function installDependencies() {
  const stamp = join(root, 'node_modules', '.tendon-lock');
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  say('Installing dependencies from package-lock.json (once, about a minute) …');
  const started = Date.now();
  if (!run('sh', ['-c', NPM])) throw new Error('npm install failed; its last lines above name the cause');
  say(`Installed the dependencies in ${secondsSince(started)} s.`);
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stamp, lock);
}

const secondsSince = (started) => Math.round((Date.now() - started) / 1000);

/** Prepares for `start`, `test` or `test:long`; returns the Node to run with and an environment that has it first on PATH. */
export async function setup(purpose) {
  const { packages, ...machine } = setupInPart(purpose);
  await packages;
  return machine;
}

/** The same, but what only the package manager of the system has is there when `packages` resolves. */
export function setupInPart(purpose) {
  const packages = installPackages(purpose);
  installDependencies();
  const node = nodeBinary(root);
  const bin = join(root, 'node_modules', '.bin');
  return { node, env: { ...process.env, PATH: [join(node, '..'), bin, process.env.PATH].join(delimiter) }, packages };
}
