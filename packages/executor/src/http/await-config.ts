import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SIGNATURE_HEADER, type AwaitedConfig, type AwaitRequest, type ExecutorConfig } from '@tendon/protocol/executor-api';
import { reasonOf } from '../action-handler.ts';
import { checkConfig } from '../config.ts';
import { json } from './exchange.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const REQUEST_MS = 10_000;
const KEY_FILE = 'executor-key';
/** How a pod says what it is; of no use to what runs inside. */
const OF_THE_PLACE = /^TENDON_POD_/;

/** Reads `--await <json>`; nothing where it is not given. */
export function parseAwaitRequest(args: readonly string[]): AwaitRequest | undefined {
  const at = args.indexOf('--await');
  return at < 0 ? undefined : (JSON.parse(args[at + 1] ?? 'null') as AwaitRequest);
}

/**
 * Waits for the configuration of a place that was started before it is known what for: a pod of a pool. Owns the port until then, and nothing of
 * what comes after it.
 *
 * 1. Only who has the signing key configures it, for this place alone, once: what was signed for another place is refused.
 * 2. Until then nothing of the place can be used: there is no other route.
 * 3. A configuration that cannot be used is answered with the reason, and another one is waited for.
 */
export async function awaitConfig(request: AwaitRequest, env: NodeJS.ProcessEnv): Promise<ExecutorConfig> {
  const publicKey = createPublicKey({ key: Buffer.from(request.publicKey, 'base64'), format: 'der', type: 'spki' });
  const { promise, resolve } = Promise.withResolvers<ExecutorConfig>();
  const server = createServer((incoming, response) => {
    response.setHeader('connection', 'close');
    void answer(incoming, response, { request, publicKey, env })
      .then((config) => config && resolve(config))
      .catch((error: unknown) => json(response, { error: reasonOf(error) }, 400));
  });
  server.requestTimeout = REQUEST_MS;
  server.headersTimeout = REQUEST_MS;
  server.listen(request.port, request.host);
  await once(server, 'listening');
  const config = await promise;
  server.close();
  await once(server, 'close'); // the executor listens at the same place
  return config;
}

interface Waiting {
  readonly request: AwaitRequest;
  readonly publicKey: KeyObject;
  readonly env: NodeJS.ProcessEnv;
}

/** Resolves with the configuration once it was taken and the answer is on its way. */
async function answer(incoming: IncomingMessage, response: ServerResponse, waiting: Waiting): Promise<ExecutorConfig | undefined> {
  const route = `${incoming.method} ${incoming.url}`;
  if (incoming.headers.origin !== undefined) return void json(response, { error: 'pages are not served here' }, 403);
  if (route === 'GET /alive') return void json(response, { status: 'waiting' });
  if (route !== 'PUT /config') return void json(response, { error: 'no such route: it waits for its configuration' }, 404);
  const body = await buffer(bounded(incoming));
  const signature = Buffer.from(String(incoming.headers[SIGNATURE_HEADER] ?? ''), 'base64');
  const signed = Buffer.concat([Buffer.from(`${waiting.request.place}\n`), body]);
  if (!verify(null, signed, waiting.publicKey, signature)) {
    return void json(response, { error: 'the configuration is not signed for this place' }, 403);
  }
  const config = prepare(JSON.parse(body.toString('utf8')) as AwaitedConfig, waiting);
  await new Promise<void>((sent) => response.writeHead(204).end(sent));
  return config;
}

async function* bounded(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > MAX_BODY_BYTES) throw new Error(`the configuration has more than ${MAX_BODY_BYTES} bytes`);
    yield chunk;
  }
}

/** Throws where it cannot be used. */
function prepare({ config, key, isFresh = false }: AwaitedConfig, { request, env }: Waiting): ExecutorConfig {
  const { host, port, folders } = request;
  if (isFresh) for (const folder of [folders.stateDir, folders.home]) emptyFolder(folder);
  for (const folder of [folders.stateDir, folders.home, config.folders.workDir]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keyFile = join(folders.stateDir, KEY_FILE);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const environment = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || OF_THE_PLACE.test(name) ? [] : [[name, value]])),
  );
  return checkConfig({ ...config, endpoint: { host, port, keyFile }, shell: { ...config.shell, environment } });
}

/** The folder stays: it may be a mount. */
function emptyFolder(folder: string): void {
  try {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
