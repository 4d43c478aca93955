import { once } from 'node:events';
import { access, constants, mkdir, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Config } from '@tendon/server/headless';

const MIN_NODE = 24;
const MIN_FREE_BYTES = 1024 ** 3;

/** Node, disk, port and model, without changing anything but making the home. */
export async function checkMachine(config: Config): Promise<readonly Finding[]> {
  return [checkNode(process.versions.node), await checkHome(config.home), await checkPort(config), checkModel(config)];
}

function checkNode(version: string): Finding {
  const ok = Number.parseInt(version, 10) >= MIN_NODE;
  return { name: 'Node', ok, says: ok ? version : `${version} is too old: ${MIN_NODE} or newer is needed` };
}

async function checkHome(home: string): Promise<Finding> {
  const name = 'home';
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await access(home, constants.W_OK);
    const { bavail, bsize } = await statfs(home);
    const free = bavail * bsize;
    const says = `${home}, ${(free / 1024 ** 3).toFixed(1)} GiB free`;
    return free >= MIN_FREE_BYTES ? { name, ok: true, says } : { name, ok: false, says: `${says}: make room, or set TENDON_HOME` };
  } catch (cause) {
    return { name, ok: false, says: `${(cause as Error).message}: set TENDON_HOME to a folder that can be written` };
  }
}

async function checkPort({ host, port }: Config): Promise<Finding> {
  const name = 'port';
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return { name, ok: true, says: `${host}:${port} is free` };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') return { name, ok: false, says: `${message}: set HOST and PORT` };
    return { name, ok: true, isNote: true, says: `${host}:${port} is taken: a server runs already, or set PORT` };
  } finally {
    server.close();
  }
}

function checkModel({ model, llmApiKey }: Config): Finding {
  const says = llmApiKey
    ? `${model}, with a key`
    : `${model}, no key in the environment: set LLM_MODEL and LLM_API_KEY, or use the web app`;
  return { name: 'model', ok: true, says, ...(!llmApiKey && { isNote: true }) };
}

/** What one check found. `says` is plain text; for a failure it includes what to do. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  /** Worth knowing, and no reason to fail. */
  readonly isNote?: boolean;
}
