import { existsSync, readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { isWithin } from '../../workspace/held-folder.ts';
import type { ProtectedPath } from '../../workspace/protected/protect.ts';

/** A path that programs inside see. `required: false` leaves it out if the host does not have it. */
export interface Bind {
  readonly source: string;
  readonly target: string;
  readonly writable?: boolean;
  /** Closed to the sandbox's uid on the host, so a root server stages it. */
  readonly isPrivate?: boolean;
  readonly idMapped?: boolean;
  /** The number of its descriptor in the process that stages it: what that leads to is mounted. */
  readonly descriptor?: number;
  /** The paths in it that are mounted onto themselves while it is staged. */
  readonly protects?: readonly ProtectedPath[];
}

/** Read-only, as far as they exist. Never `/`: most of the host would be readable. */
const SYSTEM_FOLDERS = ['/usr', '/nix/store'];
/** Real folders on some systems, links into /usr on merged ones. */
const ROOT_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** From /etc only files that programs need and everybody may read. Never the folder: a root host would leak `shadow` and keys. */
const ETC_ENTRIES = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fonts',
  'gai.conf',
  'inputrc',
  'java',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'locale.conf',
  'localtime',
  'lsb-release',
  'magic',
  'maven',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'perl',
  'php',
  'pki/ca-trust/extracted',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'texmf',
  'timezone',
];

/** Folders with a version in their name that a language needs to start. */
const ETC_PREFIXES = ['java-', 'python3', 'ImageMagick-'];

export function systemBinds(
  exists: (path: string) => boolean = existsSync,
  inEtc: readonly string[] = readdirSync('/etc'),
): readonly Bind[] {
  const versioned = inEtc.filter((name) => ETC_PREFIXES.some((prefix) => name.startsWith(prefix)));
  const etc = [...ETC_ENTRIES, ...versioned].map((entry) => `/etc/${entry}`);
  return [...SYSTEM_FOLDERS, ...etc].filter(exists).map((path) => ({ source: path, target: path }));
}

export { ROOT_FOLDERS };

/**
 * Folders of the host that must not show through a wider bind (the server's home below /usr/local, or below the workspace that
 * the user chose): where each of them would appear inside. A folder within another hidden one has no mask of its own: it could
 * not be mounted on the read-only mask of the outer one, which covers it.
 */
export function masks(hidden: readonly string[], binds: readonly Bind[]): readonly string[] {
  const outermost = hidden.filter((folder, at) => !hidden.some((other, i) => isWithin(folder, other) && (other !== folder || i < at)));
  return outermost.flatMap((folder) =>
    binds
      .filter((bind) => folder !== bind.source && isWithin(folder, bind.source))
      .map((bind) => `${bind.target}/${relative(bind.source, folder)}`),
  );
}

/** The protected paths of a workspace, as mounts onto themselves. */
export function bindsOnto(source: string, target: string, mounts: readonly ProtectedPath[]): readonly Bind[] {
  return mounts.map(({ path, isReadOnly }) => ({ source: `${source}/${path}`, target: `${target}/${path}`, writable: !isReadOnly }));
}

/**
 * The folders between a writable bind and what is masked in it, each bound onto itself: a mount point cannot be renamed, so the agent
 * cannot move a masked folder, by one of these, to where the next start would not look for it.
 */
export function pins(masked: readonly string[], binds: readonly Bind[]): readonly Bind[] {
  const found = masked.flatMap((mask) => {
    const bind = binds.find(({ target, writable }) => writable && mask.startsWith(`${target}/`));
    const steps = bind === undefined ? [] : mask.slice(bind.target.length + 1).split('/');
    return steps.slice(0, -1).map((_, at): readonly [string, Bind] => {
      const below = steps.slice(0, at + 1).join('/');
      const target = `${bind!.target}/${below}`;
      return [target, { source: `${bind!.source}/${below}`, target, writable: true }];
    });
  });
  return [...new Map(found).values()];
}
