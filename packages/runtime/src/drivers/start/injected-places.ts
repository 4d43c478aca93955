const ROOT = '/opt/tendon';

/** The paths of the injected folder inside a container: the executor, and programs that an image may lack. */
export const INJECTED = {
  root: ROOT,
  /** Last on PATH: bash and busybox, for images that have neither. */
  bin: `${ROOT}/bin`,
  bash: `${ROOT}/bin/bash`,
  lib: `${ROOT}/lib`,
  loader: `${ROOT}/lib/ld.so`,
  libexec: `${ROOT}/libexec`,
  node: `${ROOT}/libexec/node`,
  tools: `${ROOT}/tools`,
  executor: `${ROOT}/executor`,
} as const;
