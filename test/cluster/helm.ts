import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const VERSION = 'v4.3.1';
const BIN = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tendon/cluster/bin');
const CHART = join(import.meta.dirname, '../../deploy/helm/tendon');

/** Helm itself, built once from its Go module and stored. */
function helmProgram(): string {
  const path = join(BIN, `helm-${VERSION}`);
  if (existsSync(path)) return path;
  mkdirSync(BIN, { recursive: true });
  const fresh = mkdtempSync(join(BIN, 'helm-'));
  try {
    const go = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go';
    const env = { ...process.env, GOBIN: fresh, CGO_ENABLED: '0', GOFLAGS: '-p=1 -trimpath' };
    execFileSync('nice', ['-n', '10', go, 'install', `helm.sh/helm/v4/cmd/helm@${VERSION}`], { cwd: fresh, env, stdio: 'inherit' });
    renameSync(join(fresh, 'helm'), path);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return path;
}

/** Runs Helm on the chart. Throws with what it prints when it refuses. */
export function helm(command: 'lint' | 'template', ...options: readonly string[]): string {
  const args = command === 'template' ? ['template', 'tendon', CHART, '--namespace', 'agents'] : ['lint', CHART, '--strict'];
  return execFileSync(helmProgram(), [...args, ...options], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
