import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const BIN = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tendon/cluster/bin');

export interface GoProgram {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Its folder in the module. */
  readonly folder: string;
}

/** The path of a program, built once from its Go module and stored. `go install` refuses modules that exclude or replace others. */
export function goProgram({ name, module, version, folder }: GoProgram): string {
  const path = join(BIN, `${name}-${version}`);
  if (existsSync(path)) return path;
  mkdirSync(BIN, { recursive: true });
  const fresh = mkdtempSync(join(BIN, `${name}-`));
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-p=1 -trimpath' };
  const go = (cwd: string, ...args: readonly string[]): string => {
    const program = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go';
    return execFileSync('nice', ['-n', '10', program, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  };
  try {
    const { Dir: sources } = JSON.parse(go(fresh, 'mod', 'download', '-json', `${module}@${version}`)) as { readonly Dir: string };
    go(sources, 'build', '-o', join(fresh, name), folder);
    renameSync(join(fresh, name), path);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return path;
}
