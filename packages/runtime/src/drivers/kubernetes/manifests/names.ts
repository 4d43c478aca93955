import { createHash } from 'node:crypto';

export const INSTALLATION_LABEL = 'tendon.dev/installation';
/** Label with the state root of a server: servers with different conversations have different ones, even under one installation name. */
export const OWNER_LABEL = 'tendon.dev/owner';
export const INCARNATION_LABEL = 'tendon.dev/incarnation';
/** Label of the pods, with the value `sandbox`, so that a policy for sandboxes cannot match servers. */
export const PART_LABEL = 'tendon.dev/part';
export const CONVERSATION_ANNOTATION = 'tendon.dev/conversation';
/** Annotation: the next start removes the private state and the home. */
export const FRESH_ANNOTATION = 'tendon.dev/fresh';

/** The port of the executor in each pod. */
export const EXECUTOR_PORT = 8700;
export const CONTAINER = 'sandbox';
/** The volume of a sandbox, with its workspace, its home and its private state. */
export const VOLUME = 'work';

/** The name of an installation's template, pool and key. */
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
