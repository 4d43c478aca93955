import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { goProgram } from './go-program.ts';

const CHART = join(import.meta.dirname, '../../deploy/helm/tendon');
const HELM = { name: 'helm', module: 'helm.sh/helm/v4', version: 'v4.3.1', folder: './cmd/helm' };

/** Once on a machine, which takes minutes. */
export function buildHelm(): void {
  goProgram(HELM);
}

/** Runs Helm on the chart. Throws with what it prints when it refuses. */
export function helm(command: 'lint' | 'template', ...options: readonly string[]): string {
  const args = command === 'template' ? ['template', 'tendon', CHART, '--namespace', 'agents'] : ['lint', CHART, '--strict'];
  return execFileSync(goProgram(HELM), [...args, ...options], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
