import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../processes/launch.ts';

/** Features of the installed bubblewrap that older versions do not have. */
export interface BwrapVersion {
  readonly text: string;
  /** Clears the environment and sets permissions, which our sandboxes need (0.5, 2021). */
  readonly isRecent: boolean;
  /** Gives its temporary folders a size (0.7); without, only the memory limit bounds them. */
  readonly hasSizes: boolean;
}

/**
 * `output` is what `bwrap --version` prints, e.g. "bubblewrap 0.8.0".
 * @internal
 */
export function readBwrapVersion(output: string): BwrapVersion {
  const [, text = '0', major = '0', minor = '0'] = /((\d+)\.(\d+)[\d.]*)/.exec(output) ?? [];
  const number = Number(major) * 1000 + Number(minor);
  return { text, isRecent: number >= 5, hasSizes: number >= 7 };
}

let known: Promise<BwrapVersion> | undefined;

/** Asked once. Rejects when bubblewrap is not there. */
export function bwrapVersion(): Promise<BwrapVersion> {
  known ??= promisify(execFile)(findProgram('bwrap') ?? 'bwrap', ['--version'], { timeout: 10_000 }).then(({ stdout }) =>
    readBwrapVersion(stdout),
  );
  known.catch(() => (known = undefined));
  return known;
}

/** Skips the check, because an earlier process of this boot has asked the same program. */
export function knowBwrapVersion(version: BwrapVersion): void {
  known = Promise.resolve(version);
}
