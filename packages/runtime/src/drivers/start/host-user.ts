import { createHash } from 'node:crypto';

/**
 * The user that the sandbox has on the host, and the one that it has inside.
 *
 * A root server never runs the sandbox as host root, not even without capabilities: uid 0 may still write
 * `/proc/sys/kernel/core_pattern` and read every file of root. It becomes the workspace's owner; where that is root, a uid
 * that belongs to nobody, and the workspace is id-mapped so that its files still belong to root on disk.
 */
export interface HostUser {
  readonly uid: number;
  readonly gid: number;
  readonly insideUid: number;
  readonly insideGid: number;
  /** The server runs as root: private mounts are staged before the uid is given up. */
  readonly staged: boolean;
  /** Owner 0 on disk appears as `uid` inside. */
  readonly idMapped: boolean;
}

/** Above every range that distributions, systemd and container engines hand out, below 2³¹. */
export const FIRST_SANDBOX_UID = 1_900_000_000;
const INSIDE_ID_OF_ROOT = 1000;

export function hostUser(server: { uid: number; gid: number }, owner: { uid: number; gid: number }, sandboxName: string): HostUser {
  if (server.uid !== 0) return { ...server, insideUid: server.uid, insideGid: server.gid, staged: false, idMapped: false };
  if (owner.uid !== 0) {
    const gid = owner.gid === 0 ? owner.uid : owner.gid;
    return { uid: owner.uid, gid, insideUid: owner.uid, insideGid: gid, staged: true, idMapped: false };
  }
  const uid = FIRST_SANDBOX_UID + createHash('sha256').update(sandboxName).digest().readUIntBE(0, 3);
  return { uid, gid: uid, insideUid: INSIDE_ID_OF_ROOT, insideGid: INSIDE_ID_OF_ROOT, staged: true, idMapped: true };
}
