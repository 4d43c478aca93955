import { createHash } from 'node:crypto';

export const INSTALLATION_LABEL = 'tendon.dev/installation';
/** Of the server's folders of sandboxes: one that knows other conversations has others, also under the same name of an installation. */
export const OWNER_LABEL = 'tendon.dev/owner';
export const INCARNATION_LABEL = 'tendon.dev/incarnation';
/** Of pods: `sandbox`, so that no policy that is meant for them is one for servers too. */
export const PART_LABEL = 'tendon.dev/part';
export const CONVERSATION_ANNOTATION = 'tendon.dev/conversation';
/** The next start leaves nothing of the private state and the home. */
export const FRESH_ANNOTATION = 'tendon.dev/fresh';

/** Of the executor, in each pod. */
export const EXECUTOR_PORT = 8700;
export const CONTAINER = 'sandbox';
/** The volume of a sandbox, with its workspace, its home and its private state. */
export const VOLUME = 'work';

/** Of the template, the pool and the key of an installation. */
export function installationName(installation: string): string {
  return `tendon-${installation}`;
}

/** A conversation has one claim for as long as it has a workspace. */
export function claimName(installation: string, conversationId: string): string {
  return `tendon-${createHash('sha256').update(`${installation}\0${conversationId}`).digest('hex').slice(0, 24)}`;
}

export function ownerLabel(stateRoot: string): string {
  return createHash('sha256').update(stateRoot).digest('hex').slice(0, 16);
}

export function ofInstallation(installation: string): string {
  return `${INSTALLATION_LABEL}=${installation}`;
}
