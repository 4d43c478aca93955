import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PLUGIN_NAMES, type ExecutorConfig, type ExecutorEndpoint, type ExecutorFolders } from '@tendon/protocol/executor-api';

/** Reads `--config <json>`. Throws with the name of what is missing, and where the workspace is not the one that was meant. */
export function parseConfig(args: readonly string[]): ExecutorConfig {
  const at = args.indexOf('--config');
  const config = JSON.parse(args[at + 1] ?? 'null') as ExecutorConfig | null;
  if (at < 0 || config === null) throw new Error('usage: main.mjs --config <json>');
  return checkConfig(config);
}

/** Throws as `parseConfig` does. */
export function checkConfig(config: ExecutorConfig): ExecutorConfig {
  const { incarnation, endpoint, folders, shell, limits, plugins } = config;
  for (const [name, group] of Object.entries({ endpoint, folders, shell, limits }))
    if (typeof group !== 'object' || group === null)
      throw new Error(`config.${name} must be an object (a server of another release? restart it)`);
  const { stateDir, workspace, workDir, workspaceIs, isReadOnly } = folders;
  checkTexts({ incarnation, 'folders.stateDir': stateDir, 'folders.workspace': workspace, 'folders.workDir': workDir });
  checkTexts({ 'shell.program': shell.program });
  checkEndpoint(endpoint);
  const { noOutputTimeoutSeconds, leaseSeconds } = limits;
  for (const [name, value] of Object.entries({ noOutputTimeoutSeconds, leaseSeconds }))
    if (!(value > 0)) throw new Error(`config.limits.${name} must be a positive number`);
  for (const [name, value] of Object.entries<number>({ ...limits.output })) {
    if (!(Number.isSafeInteger(value) && value > 0)) throw new Error(`config.limits.output.${name} must be a positive whole number`);
  }
  if (workspaceIs !== undefined && workspaceIs !== identityOf(workspace))
    throw new Error('another folder has been put in the place of the workspace while the sandbox was made');
  const writable = isReadOnly ? findWritable(workspace) : undefined;
  if (writable !== undefined) throw new Error(`${writable} is not mounted read-only, as the workspace must be (plan mode)`);
  const replaced = findReplaced(folders);
  if (replaced) throw new Error(`something else has been put in the place of ${replaced.path} while the sandbox was made`);
  const unknown = plugins?.find((name) => !PLUGIN_NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`config.plugins: there is no plugin "${unknown}"; there are ${PLUGIN_NAMES.join(', ')}`);
  return config;
}

function checkTexts(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(texts))
    if (typeof value !== 'string' || value === '') throw new Error(`config.${name} must be a text`);
}

function checkEndpoint({ socketPath, port, host, keyFile }: ExecutorEndpoint): void {
  if ((socketPath === undefined) === (port === undefined)) throw new Error('config.endpoint has either socketPath or port');
  if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535))
    throw new Error('config.endpoint.port must be a port, or 0 for a free one');
  for (const [name, value] of Object.entries({ host, keyFile })) {
    if (value === undefined) continue;
    checkTexts({ [`endpoint.${name}`]: value });
    if (port === undefined) throw new Error(`config.endpoint.${name} is of use with config.endpoint.port only`);
  }
}

/**
 * What was named by its path and is not mounted onto itself. Looking at the paths would not do: they may lead back to where they did,
 * while what was mounted is another folder, or lies in another place. Of a mount the system says what of the file system it shows.
 */
function findReplaced({ workspace, protectedPaths = [] }: ExecutorFolders): { readonly path: string } | undefined {
  const named = protectedPaths.filter(({ identity }) => identity !== undefined);
  if (named.length === 0) return undefined;
  const mounts = readMounts();
  const own = mounts.findLast(({ point }) => point === bytes(workspace));
  const isMounted = (path: string): boolean =>
    mounts.some(
      ({ device, root, point }) =>
        device === own?.device && root === join(own?.root ?? '', bytes(path)) && point === join(bytes(workspace), bytes(path)),
    );
  return named.find(({ path, identity }) => !isMounted(path) || !isSame(join(workspace, path), identity));
}

/** A mount point in the workspace, or itself, through which it can be changed. */
function findWritable(workspace: string): string | undefined {
  const top = bytes(workspace);
  const mounts = readMounts().filter(({ point }) => point === top || point.startsWith(`${top}/`));
  if (!mounts.some(({ point }) => point === top)) return workspace;
  return mounts.find(({ options }) => !options.includes('ro'))?.point;
}

function readMounts() {
  const plain = (text = ''): string => text.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
  return readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, , device, root, point, options = '']) => ({ device, root: plain(root), point: plain(point), options: options.split(',') }));
}

/** As the system's table has it when it is read byte by byte. */
function bytes(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function isSame(path: string, identity: string | undefined): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return now !== undefined && `${now.dev}:${now.ino}` === identity;
}

function identityOf(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  return `${dev}:${ino}`;
}
