import { shellQuote } from './shell-quote.ts';

/** What packages are installed for: they serve no other Python. */
export interface PythonKind {
  /** E.g. `cpython-311`; names their folder. */
  readonly tag: string;
  /** E.g. `3.11`. */
  readonly version: string;
}

/** Nothing for what no Python says of itself. */
export function readPythonKind(tag: string, version: string): PythonKind | undefined {
  return /^\w[\w.-]*$/.test(tag) && /^\d+\.\d+$/.test(version) ? { tag, version } : undefined;
}

/** The kind of a Python for which `ipykernel` can be installed from outside, which is CPython. They are so few that no caller can request many. */
export function sharedKind(tag: string): PythonKind | undefined {
  const minor = /^cpython-3([7-9]|[12]\d)$/.exec(tag)?.[1];
  return minor === undefined ? undefined : { tag, version: `3.${minor}` };
}

const PACKAGE = 'ipykernel>=6.17,<8';
const HOW = '--no-input --quiet --progress-bar off --disable-pip-version-check --retries 1 --timeout 20';

/** Shell text that puts `ipykernel` into `<folder>/<tag>`, whole or not at all, with the first of these Pythons that has a pip. */
export function installCommand({ tag, version }: PythonKind, folder: string, pythons: readonly string[]): string {
  const [target, fresh] = [shellQuote(`${folder}/${tag}`), shellQuote(`${folder}/${tag}.new`)];
  const wheels = `--only-binary :all: --implementation cp --python-version ${version}`;
  return `rm -rf ${fresh}; mkdir -p ${shellQuote(folder)} || exit 1
for python in ${pythons.map(shellQuote).join(' ')}; do
  "$python" -m pip --version >/dev/null 2>&1 || continue
  "$python" -m pip install ${HOW} ${wheels} --target ${fresh} ${shellQuote(PACKAGE)} && rm -rf ${target} && mv ${fresh} ${target}
  exit
done
exit 1`;
}

/**
 * How an executor asks its host for `ipykernel`: through its proxy socket, `POST http://kernel.tendon.internal/<tag>`, answered by
 * application/x-ndjson of PackagesLine, the last one without `output`. What it gets appears below the folder that it sees.
 */
export const KERNEL_PACKAGES_NAME = 'kernel.tendon.internal';

export type PackagesLine =
  | { readonly output: string }
  /** It is there now. */
  | { readonly ready: true }
  | { readonly ready: false; readonly reason: string };
