import { FIRST_SANDBOX_UID, type HostUser } from '../start/host-user.ts';
import type { EngineFacts } from './engine/engine-facts.ts';

/** The user of the container's first process, in the ids that the engine accepts. */
export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
  /** How the engine maps user ids; its own way when missing. */
  readonly userns?: 'keep-id' | 'host';
}

/**
 * The ids that make files of the workspace belong to `host` on disk. An engine without root has only its own user on the host:
 * Podman can keep that one's id inside, Docker calls it root, which is root of nothing.
 */
export function containerUser({ uid, gid }: HostUser, facts: EngineFacts): ContainerUser {
  if (facts.isRootless) return facts.isPodman ? { uid, gid, userns: 'keep-id' } : { uid: 0, gid: 0 };
  return { uid, gid, ...(facts.remapsUsers && { userns: 'host' as const }) };
}

/** `wanted` (SANDBOX_USER_ID) in place of the id that nobody has. Throws if the workspace belongs to somebody else. */
export function withWantedId(user: HostUser, wanted: number | undefined): HostUser {
  if (wanted === undefined || wanted === user.uid) return user;
  if (user.uid >= FIRST_SANDBOX_UID) return { ...user, uid: wanted, gid: wanted };
  throw new Error(
    `SANDBOX_USER_ID is ${wanted}, but the workspace belongs to user ${user.uid}: unset it, or give the folder to that user (chown -R ${wanted})`,
  );
}

/** `/etc/passwd` and `/etc/group` of the image, with the sandbox's user first: that is the name its id has. */
export function userFiles(
  image: { readonly passwd: string; readonly group: string },
  { uid, gid }: ContainerUser,
): Readonly<Record<'passwd' | 'group', string>> {
  const root = { passwd: 'root:x:0:0:root:/root:/bin/sh', group: 'root:x:0:' };
  const lines = (first: string, rest: string): string => `${first}\n${rest.trimEnd()}\n`;
  return {
    passwd: lines(`tendon:x:${uid}:${gid}:Tendon sandbox:/home/tendon:/bin/sh`, image.passwd.trim() || root.passwd),
    group: lines(`tendon:x:${gid}:`, image.group.trim() || root.group),
  };
}
