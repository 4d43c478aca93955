/** `deploy/compose`, read as YAML with its anchors and merges, without an engine. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFiledConfig } from '@tendon/server/headless';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

const FOLDER = join(import.meta.dirname, '../../deploy/compose');

// What Compose's fields are is Compose's to say.
/* oxlint-disable typescript/no-explicit-any */

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly [field: string]: any;
}

function composition(): { readonly services: Readonly<Record<string, Service>>; readonly [part: string]: any } {
  return parse(readFileSync(join(FOLDER, 'compose.yaml'), 'utf8'), { merge: true });
}

it('SV1258: what services name is there, and each has a check of its health', () => {
  const { services, networks, volumes, secrets } = composition();
  for (const [name, service] of Object.entries(services)) {
    const named = (list: readonly string[] = []) => list.map((each) => each.split(':')[0]!).filter((each) => !each.startsWith('.'));
    expect([name, named(service.volumes).filter((each) => !(each in volumes))]).toEqual([name, []]);
    expect([name, (service.networks as string[]).filter((each) => !(each in networks))]).toEqual([name, []]);
    expect([name, ((service.secrets ?? []) as string[]).filter((each) => !(each in secrets))]).toEqual([name, []]);
    for (const [other, { condition }] of Object.entries<{ condition: string }>(service.depends_on ?? {}))
      expect([other in services, condition]).toEqual([true, 'service_healthy']);
  }
  // The image of a server brings its own.
  for (const name of ['postgres', 'sandboxes']) expect(services[name]!.healthcheck.test[0]).toBe('CMD');
  for (const name of ['server-1', 'server-2'])
    expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'], user: '10001:10001', restart: 'unless-stopped' });
});

it('SV1258: its secrets are made once, and the servers start with them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-compose-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(FOLDER, 'secrets.sh'), join(folder, 'secrets.sh'));
  const make = () => execFileSync('sh', [join(folder, 'secrets.sh')], { env: { PATH: process.env.PATH, LLM_API_KEY: 'sk-of-the-model' } });
  make();
  const { services, secrets } = composition();
  const files = Object.values<{ file: string }>(secrets).map(({ file }) => join(folder, file));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  expect(statSync(join(folder, 'secrets')).mode & 0o077).toBe(0);
  const before = files.map((file) => readFileSync(file, 'utf8'));
  make();
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before);

  const addresses = ['server-1', 'server-2'].map(async (name) => {
    const inFolder = (value: string) => value.replace(/^\/run\/secrets\//, `${folder}/secrets/`).replace(/^\$\{\w+:-([^}]*)\}$/, '$1');
    const given = Object.entries(services[name]!.environment!).map(([key, value]) => [key, inFolder(value)]);
    const read = await readFiledConfig({ ...(Object.fromEntries(given) as Record<string, string>), TENDON_HOME: folder });
    if (!read.ok) throw new Error(read.problems.join('; '));
    expect(read.config.databaseUrl?.reveal()).toMatch(/^postgres:\/\/tendon:[0-9a-f]{64}@postgres:5432\/tendon\?/);
    expect(read.config.executorHosts[0]?.key?.reveal()).toBe(readFileSync(join(folder, 'secrets/executor-key'), 'utf8'));
    return services[name]!.environment!.TENDON_ADVERTISE_URL;
  });
  expect(await Promise.all(addresses)).toEqual(['http://server-1:3000', 'http://server-2:3000']);
});
