import { dirname } from 'node:path';
import type { SandboxSpec } from '../../driver.ts';

const PREFIX = 'dev.tendon';
export const INCARNATION_LABEL = `${PREFIX}.incarnation`;
export const OWNER_LABEL = `${PREFIX}.owner`;
export const UID_LABEL = `${PREFIX}.uid`;

/** Where the folders of all sandboxes of a server are: the name of the server that owns them. */
export function ownerOf({ folders }: SandboxSpec): string {
  return dirname(dirname(folders.home));
}

/** By these a container is found again without its record, by a server or by a person (`docker ps --filter label=…`). */
export function labelsOf(spec: SandboxSpec): Readonly<Record<string, string>> {
  return {
    [OWNER_LABEL]: ownerOf(spec),
    [UID_LABEL]: String(process.getuid?.() ?? 0),
    [`${PREFIX}.conversation`]: spec.conversationId,
    [INCARNATION_LABEL]: spec.incarnation,
    [`${PREFIX}.lease-seconds`]: String(spec.leaseSeconds),
  };
}
