/** `deploy/compose` as it is, started whole on an engine of the tests' own; only the ports of this machine are others. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { openEngine, type TestEngine } from '../../../packages/runtime/src/testing/containers/index.ts';
import { goProgram } from '../go-program.ts';
import { makeImages } from './images.ts';

const FOLDER = join(import.meta.dirname, '../../../deploy/compose');
const COMPOSE = { name: 'docker-compose', module: 'github.com/docker/compose/v2', version: 'v2.40.3', folder: './cmd' };
const ROOT_CERTIFICATE = '/data/caddy/pki/authorities/local/root.crt';

export class Composition {
  readonly #engine: TestEngine;
  readonly #folder: string;
  #port = '';

  private constructor(engine: TestEngine, folder: string) {
    this.#engine = engine;
    this.#folder = folder;
  }

  /** Resolves when all of it is healthy; its model plays `script`. From then on this process trusts the proxy. */
  static async start(script: unknown): Promise<Composition> {
    const engine = await openEngine('docker');
    const folder = mkdtempSync(join(tmpdir(), 'tendon-compose-'));
    const composition = new Composition(engine, folder);
    try {
      makeImages(engine);
      for (const name of ['compose.yaml', 'Caddyfile', 'secrets.sh']) cpSync(join(FOLDER, name), join(folder, name));
      writeFileSync(join(folder, 'script.json'), JSON.stringify(script));
      writeFileSync(join(folder, 'override.yaml'), OVERRIDE);
      execFileSync('sh', [join(folder, 'secrets.sh')]);
      await composition.up();
      composition.#port = (await composition.compose('port', 'proxy', '443')).trim().split(':').at(-1)!;
      setDefaultCACertificates([...getCACertificates(), await composition.run('proxy', 'cat', ROOT_CERTIFICATE)]);
    } catch (error) {
      await composition.remove();
      throw error;
    }
    return composition;
  }

  /** Of the proxy. */
  get url(): string {
    return `https://localhost:${this.#port}`;
  }

  get key(): string {
    return readFileSync(join(this.#folder, 'secrets/session-api-key'), 'utf8');
  }

  async json<T>(path: string, body?: unknown): Promise<T> {
    const headers = { 'x-session-api-key': this.key, 'content-type': 'application/json' };
    const response = await fetch(this.url + path, { headers, ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** The service whose server has the conversation. */
  async ownerOf(id: string): Promise<string> {
    const sql = `SELECT s.url FROM tendon.logs AS l JOIN tendon.servers AS s ON s.id = l.owner WHERE l.conversation_id = '${id}'`;
    return new URL(await this.run('postgres', 'psql', '--username=tendon', '-At', `--command=${sql}`)).hostname;
  }

  /** Runs Compose; resolves with what it prints. */
  async compose(...args: readonly string[]): Promise<string> {
    const env = { ...process.env, DOCKER_HOST: this.#engine.host, LLM_MODEL: 'scripted//script.json' };
    const files = ['--file=compose.yaml', '--file=override.yaml', '--profile=tls'];
    const { stdout } = await promisify(execFile)(goProgram(COMPOSE), [...files, ...args], { cwd: this.#folder, env });
    return stdout;
  }

  /** Starts what does not run, of these or of all, and waits until it is healthy. */
  async up(...services: readonly string[]): Promise<void> {
    await this.compose('up', '--detach', '--wait', '--no-build', ...services);
  }

  /** What a command in the container of a service prints. */
  async run(service: string, ...command: readonly string[]): Promise<string> {
    return (await this.compose('exec', '--no-TTY', service, ...command)).trim();
  }

  async remove(): Promise<void> {
    try {
      await this.compose('down', '--volumes', '--timeout', '2');
    } finally {
      await this.#engine.close();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }
}

const OVERRIDE = `
services:
  server-1: &server
    ports: !override ['127.0.0.1::3000']
    volumes: ['./script.json:/script.json:ro']
  server-2: *server
  proxy:
    ports: !override ['127.0.0.1::443']
`;
