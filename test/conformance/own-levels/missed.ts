import { type Check, type CheckResult, CHECKS, conform, type ConformOptions } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';
import { dailyChecks } from './daily.ts';

const TIMEOUT_MS = 90_000;
/** Other files run at the same time. */
const PARALLEL = 2;

/** The timeout of a test that runs many checks. */
export const MANY_CHECKS_MS = 600_000;
/** Waits for as long as the server waits, and longer: it is asked of a server with the shortest wait. */
export const OF_SILENCE = 'v0-socketio/cells-hand-back';

/** A file for each part, so that the workers share them; every check is in one. */
type Part = 'alone' | 'tools' | 'socketio' | 'rest' | 'sockets';

/** What checks of tools share. */
const TOOLS = new Set(['shell', 'editor', 'kernel', 'browser']);

function partOf({ id, isAlone, shares = '' }: Check): Part {
  if (isAlone || id === OF_SILENCE) return 'alone';
  if (TOOLS.has(shares)) return 'tools';
  if (id.startsWith('v0-socketio/')) return 'socketio';
  return id.startsWith('ws-') ? 'sockets' : 'rest';
}

export function idsOf(fits: (check: Check) => boolean): readonly string[] {
  return CHECKS.filter(fits).map(({ id }) => id);
}

/** What the checks of a part that are due hold against a server of their own. How long silence lasts is what servers ship with. */
export async function missedIn(part: Part): Promise<readonly string[]> {
  const due = dailyChecks();
  const only = idsOf((check) => due.has(check) && partOf(check) === part && check.id !== OF_SILENCE);
  return missed({ SANDBOX_NO_OUTPUT_SECONDS: '10' }, { only, parallel: PARALLEL });
}

/** What these checks, of which there is one at least, hold against a server of its own. */
export async function missed(env: NodeJS.ProcessEnv, options: Omit<ConformOptions, 'url'>): Promise<readonly string[]> {
  const tendon = await TendonProcess.start(env);
  try {
    const { results } = await conform({ url: tendon.url, timeoutMs: TIMEOUT_MS, ...options });
    if (results.length === 0) throw new Error('nothing was checked');
    const isAmiss = ({ check, verdict }: CheckResult): boolean =>
      // What is about a key is asked of a server that has one.
      verdict !== 'passed' && !(verdict === 'absent' && check.needs === 'key' && options.key === undefined);
    return results.filter(isAmiss).map(({ check, why }) => `${check.id}: ${why}`);
  } finally {
    await tendon.remove();
  }
}
