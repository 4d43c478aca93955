import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The programs of a control plane, built from their Go modules. `go.mod` beside this file has their versions, `go.sum` the checksums of everything
 * they are made of: a module proxy can give nothing else. They are stored under a name made of both, so other versions are built anew.
 */
const PROGRAMS = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'agent-sandbox-controller': 'sigs.k8s.io/agent-sandbox/cmd/agent-sandbox-controller',
} as const;
export type ProgramName = keyof typeof PROGRAMS;

/** The kinds of agent-sandbox, one file each. */
const KINDS = 'crds';
const INSTALL =
  'Install Go 1.21 or newer (https://go.dev/dl) on PATH or in /usr/local/go: by itself it fetches the version that go.mod asks for. ' +
  'Without it the driver of pods cannot be tested on a real API server.';

/** Where they are once they were built. */
export function programsFolder(): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(readFileSync(join(import.meta.dirname, name)));
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(cache, 'tendon/cluster', `control-plane-${hash.digest('hex').slice(0, 12)}`);
}

/** What agent-sandbox adds to the API, as the files of its module have it. */
export function sandboxKinds(): readonly string[] {
  const folder = join(programsFolder(), KINDS);
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
}

/** Builds what is not there yet, one after the other. Rejects with what to install where that cannot be done. */
export async function buildPrograms(say: (text: string) => void): Promise<void> {
  const folder = programsFolder();
  const missing = Object.entries(PROGRAMS).filter(([name]) => !existsSync(join(folder, name)));
  if (missing.length === 0 && existsSync(join(folder, KINDS))) return;
  const go = findGo();
  mkdirSync(folder, { recursive: true });
  const fresh = mkdtempSync(join(folder, 'fresh-'));
  try {
    for (const [name, source] of missing) {
      say(`Building ${name} from ${source} (once) …`);
      await build(go, source, join(fresh, name));
      renameSync(join(fresh, name), join(folder, name));
    }
    mkdirSync(join(fresh, KINDS));
    const kinds = join(ask(go, 'list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/agent-sandbox'), 'k8s/crds');
    for (const name of readdirSync(kinds)) writeFileSync(join(fresh, KINDS, name), readFileSync(join(kinds, name)));
    rmSync(join(folder, KINDS), { recursive: true, force: true });
    renameSync(join(fresh, KINDS), join(folder, KINDS));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function findGo(): string {
  for (const go of ['go', '/usr/local/go/bin/go']) {
    try {
      const minor = /go1\.(\d+)/.exec(execFileSync(go, ['version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))?.[1];
      if (Number(minor) >= 21) return go;
    } catch {
      // not there
    }
  }
  throw new Error(`Missing: Go, from which a Kubernetes API server is built. ${INSTALL}`);
}

/** One package at a time: the machine has other work, and the largest need more than a gigabyte. */
async function build(go: string, source: string, program: string): Promise<void> {
  const version = ask(go, 'list', '-m', '-f', '{{.Version}}', 'k8s.io/kubernetes');
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const says = Object.entries({ gitVersion: version, gitMajor: major, gitMinor: minor }).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  const args = ['build', '-p=1', '-buildvcs=false', `-ldflags=-s -w ${says.join(' ')}`, '-o', program, source];
  const child = spawn('nice', ['-n', '10', go, ...args], { cwd: import.meta.dirname, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${source} cannot be built: what Go printed says why`);
}

function ask(go: string, ...args: readonly string[]): string {
  return execFileSync(go, args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
}
