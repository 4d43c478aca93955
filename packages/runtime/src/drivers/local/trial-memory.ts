/**
 * That bubblewrap made a sandbox here, remembered in a file over the starts of servers and command lines: trying it costs each of them
 * two programs. Owns the file; does not own what is tried.
 *
 * TM1  Only a success is remembered. It holds for one boot, one bubblewrap and one set of rights: with any other it is tried again.
 * TM2  The start of a sandbox that fails takes it back.
 * TM3  A file that cannot be read or written costs a trial, nothing else.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { BwrapVersion } from '../bubblewrap/bwrap-version.ts';

/** Of the trial: another one where it tries something else. */
const FORM = '2';

interface Remembered {
  /** A digest of what it depends on. */
  readonly of: string;
  readonly version: BwrapVersion;
}

/** What opens and closes namespaces to this process: it can change without a new boot. */
const RIGHTS = [
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/self/attr/current',
];
const STATUS_LINES = /^(?:Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):.*$/gm;

export class TrialMemory {
  readonly #path: string;
  readonly #bwrap: string;

  constructor(path: string, bwrap: string) {
    this.#path = path;
    this.#bwrap = bwrap;
  }

  async recall(): Promise<BwrapVersion | undefined> {
    try {
      const { of, version } = JSON.parse(await readFile(this.#path, 'utf8')) as Remembered;
      return of === surroundings(this.#bwrap) ? version : undefined;
    } catch {
      return undefined;
    }
  }

  async keep(version: BwrapVersion): Promise<void> {
    const draft = `${this.#path}.${randomUUID()}`;
    try {
      await writeFile(draft, JSON.stringify({ of: surroundings(this.#bwrap), version } satisfies Remembered), { mode: 0o600 });
      await rename(draft, this.#path);
    } catch {
      await rm(draft, { force: true });
    }
  }

  async forget(): Promise<void> {
    await rm(this.#path, { force: true }).catch(() => undefined);
  }
}

/** A digest of everything that the outcome of a trial depends on. */
function surroundings(bwrap: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs, mode } = statSync(bwrap, { bigint: true });
  const parts = [
    FORM,
    readOr('/proc/sys/kernel/random/boot_id'),
    [realpathSync(bwrap), dev, ino, size, mtimeNs, ctimeNs, mode].join(' '),
    readOr('/proc/self/status').match(STATUS_LINES)?.join(' ') ?? '',
    readlinkSync('/proc/self/ns/user'),
    readlinkSync('/proc/self/ns/mnt'),
    ...RIGHTS.map(readOr),
  ];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

/** Not every kernel has every file. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
