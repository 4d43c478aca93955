import type { SandboxHandle } from '../drivers/driver.ts';
import type { SandboxHost, SandboxRecord } from './sandbox-record.ts';

/** Why one ended that somebody wanted to be gone, with what it stored. */
export const STOPPED = 'the sandbox was stopped';
/** Of one in which nothing ever ran. */
export const NEVER_STARTED = 'it did not start';

/** The reason of a sandbox whose workspace is to be mounted another way. */
export const REMOUNTED = 'its workspace is mounted another way now';

/** The reason of a sandbox whose store was restored from a backup. */
export const RESTORED = 'the server was restored from a backup';

/** The reason of a sandbox whose executor shares no protocol version with this server. */
export const OUTDATED = 'another version of Tendon had started it';

const OUTDATED_NOTICE =
  'the sandbox that worked here before was started by another version of Tendon and has been replaced: shell variables and the working directory are restored, nothing of it runs any more';
const RESTORED_NOTICE =
  'the server was restored from a backup: the sandbox that worked here before is gone with its home, and the files of the workspace are as they were left, not as they were when the backup was made';
const HOST_LOST =
  'the host of the sandbox has lost what it stored: variables and working directory, and whatever lay there in the home and in temporary folders, are gone';

function leftNotice({ kind, name }: SandboxHost): string {
  if (kind === 'machine')
    return `the sandbox that worked here before is on the machine ${name}, which cannot be reached from here: what was running, shell variables, the working directory and files outside the workspace are gone`;
  return `the sandbox that worked here before is on ${name}, which is no host of this server any more: everything is gone with it, and the workspace is a new and empty one`;
}

/**
 * What is lost with the sandbox before this one, for the next observation; nothing where it was hibernated, or somebody wanted it to be gone.
 * `isLeft`: that one is where this server does not come.
 */
export function startNotice(
  previous: SandboxRecord | undefined,
  { isNew }: Pick<SandboxHandle, 'isNew'>,
  isLeft = false,
): string | undefined {
  if (previous?.host && isLeft) return leftNotice(previous.host);
  if (previous === undefined || !('reason' in previous)) return undefined;
  const { state, reason } = previous;
  if (state === 'ended' && (reason === STOPPED || reason === NEVER_STARTED)) return undefined;
  if (state === 'ended' && reason === RESTORED) return RESTORED_NOTICE;
  if (isNew === true) return HOST_LOST;
  if (state === 'asleep') return reason === OUTDATED ? OUTDATED_NOTICE : undefined;
  const why = reason.replace(/^the sandbox ended(?:: )?/, '');
  return `the sandbox that worked here before has ended${why && ` (${why})`}: what was running, shell variables, the working directory and files outside the workspace and the home are gone`;
}
