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

/** Of the Pythons for which `ipykernel` can be installed from outside: CPython. So few that whoever asks cannot ask for many. */
export function sharedKind(tag: string): PythonKind | undefined {
  const minor = /^cpython-3([7-9]|[12]\d)$/.exec(tag)?.[1];
  return minor === undefined ? undefined : { tag, version: `3.${minor}` };
}
