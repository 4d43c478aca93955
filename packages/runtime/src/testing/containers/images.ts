import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An image of the tests: how its files are made, as a tar, and what its configuration says. */
interface TestImage {
  readonly makeTar: (path: string, others: (name: ImageName) => string) => void;
  readonly changes?: readonly string[];
}

export type ImageName = 'bookworm' | 'no-python' | 'busybox' | 'bare';

/** What the tests call them. */
export const imageTag = (name: ImageName): string => `tendon-test/${name}:latest`;

const LEFT_OUT = ['doc', 'man', 'locale', 'info'];
const PYTHON = ['./usr/bin/python3*', './usr/lib/python3*'];

export const IMAGES: Readonly<Record<ImageName, TestImage>> = {
  bookworm: {
    makeTar: (path) =>
      run('mmdebstrap', [
        ...['--quiet', '--variant=minbase', '--include=git,python3,ca-certificates,procps'],
        ...['--aptopt=Acquire::Languages "none"', '--dpkgopt=force-unsafe-io'],
        ...LEFT_OUT.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
        ...['bookworm', path],
      ]),
  },
  'no-python': {
    makeTar(path, others) {
      cpSync(others('bookworm'), path);
      run('tar', ['--delete', '--wildcards', '-f', path, ...PYTHON]);
    },
  },
  /** No libc, no bash; and variables that would steer a careless executor. */
  busybox: {
    makeTar: (path) => tarOf(path, addBusybox),
    changes: ['ENV PATH=/bin', 'ENV IMAGE_SAYS=hello', 'ENV LD_PRELOAD=/missing.so', 'ENV NODE_OPTIONS=--require=/missing.cjs'],
  },
  /** As "distroless" ones are: one program, and nothing else, not even a shell. */
  bare: { makeTar: (path) => tarOf(path, (folder) => cpSync('/usr/bin/busybox', join(folder, 'program'))) },
};

/** The files of an image as a tar, made once and stored in `cache`. */
export function imageTar(name: ImageName, cache: string): string {
  const path = join(cache, `${name}.tar`);
  if (existsSync(path)) return path;
  mkdirSync(cache, { recursive: true });
  const fresh = join(cache, `${name}.${process.pid}.tar`);
  try {
    IMAGES[name].makeTar(fresh, (other) => imageTar(other, cache));
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
  return path;
}

function addBusybox(folder: string): void {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  cpSync('/usr/bin/busybox', join(bin, 'busybox'));
  const applets = execFileSync('/usr/bin/busybox', ['--list'], { encoding: 'utf8' }).split('\n');
  for (const applet of applets) if (applet !== '' && applet !== 'busybox') symlinkSync('busybox', join(bin, applet));
}

function tarOf(path: string, fill: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-image-'));
  try {
    fill(folder);
    run('tar', ['-cf', path, '-C', folder, '.']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000 });
}
