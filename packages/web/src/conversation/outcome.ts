/** What an observation says about how its action went: read off what the log holds, and nothing more. */
import type { Observation } from '@tendon/protocol';

/** Failures of tools are observations of the tool's own kind whose text begins so. */
const FAILED = /^ERROR:\s*/;

/** How a command's observation ended. `running`: it was handed back while its process lived. */
export type RunEnd =
  | { readonly type: 'exit'; readonly code: number; readonly wasCancelled: boolean }
  | { readonly type: 'running'; readonly waitsForInput: boolean }
  /** Its words say why: nothing was there to type into, or another command held the shell. */
  | { readonly type: 'refused'; readonly why: 'nothing-runs' | 'busy' }
  | { readonly type: 'unknown' };

export function runEnd({ content, extras }: Observation<'run'>): RunEnd {
  const { exit_code: code, suffix } = extras.metadata;
  if (FAILED.test(content)) return { type: 'refused', why: 'nothing-runs' };
  if (code !== -1) return { type: 'exit', code, wasCancelled: /command was cancelled/.test(suffix) };
  if (/Not executed:/.test(suffix)) return { type: 'refused', why: 'busy' };
  const lives = /still running|waits for input|no new output|does not end/i.test(suffix);
  return lives ? { type: 'running', waitsForInput: /waits for input/.test(suffix) } : { type: 'unknown' };
}

/** Whether it reports a failure: an error, a command with another exit code than 0, a file that could not be read, a page that did not open. */
export function hasFailed(observation: Observation): boolean {
  switch (observation.observation) {
    case 'error':
      return true;
    case 'agent_state_changed':
      return observation.extras.agent_state === 'error';
    case 'run': {
      const end = runEnd(observation);
      return end.type === 'refused' || (end.type === 'exit' && end.code !== 0);
    }
    case 'browse':
      return observation.extras.error || FAILED.test(observation.content);
    case 'run_ipython':
    case 'read':
    case 'write':
    case 'edit':
    case 'mcp':
      return observation.success === false || FAILED.test(observation.content);
    default:
      return false;
  }
}

/** The words of a failure, without the mark before them. */
export function failureText({ content }: Observation): string {
  return content.replace(FAILED, '').trim();
}
