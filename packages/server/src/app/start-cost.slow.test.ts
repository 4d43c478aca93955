import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const PROGRAM = `
  import { registerHooks } from 'node:module';
  const seen = [];
  registerHooks({ resolve: (specifier, context, next) => (seen.push(specifier), next(specifier, context)) });
  const { readConfig, startServer } = await import('@tendon/server');
  const { config } = readConfig({ PORT: '0', RUNTIME: 'none', LOG_LEVEL: 'silent', TENDON_HOME: process.env.TENDON_HOME });
  const server = await startServer(config);
  const answers = (await fetch(server.url + '/alive')).status;
  const atStart = [...seen];
  const lists = (await fetch(server.url + '/api/conversations')).status;
  await server.close();
  console.log(JSON.stringify({ seen, atStart, answers, lists }));
`;

/** Loaded when they are first used, or by nothing of ours. */
const LATE =
  /^(?:@ai-sdk\/|@fastify\/(?:ajv|fast-json|swagger)|ajv|fast-json-stringify$|@modelcontextprotocol\/|@octokit\/|@gitbeaker\/|@opentelemetry\/|aws4fetch$|prom-client$|pg$|pg-|@tendon\/core\/postgres|\.\.\/(?:retention\/retention|erasure\/(?:erasures|erased-authors)|audit\/open-audit)\.ts$|\.\/(?:push-encryption|send-push|vapid-key)\.ts$)/;

/** Loaded with the first request of a client. */
const FOR_CLIENTS = ['./serve-clients.ts', './resources.ts', 'socket.io'];

it('SV600, SV1072: a server answers before it has loaded compilers of schemas, providers of models, clients of git hosts, MCP or Postgres, and what serves clients with the first of them', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tendon-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const args = ['--conditions=tendon-source', '--input-type=module', '-e', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, TENDON_HOME: home },
    maxBuffer: 16 * 1024 ** 2,
  });
  const { seen, atStart, ...statuses } = JSON.parse(stdout) as Readonly<Record<'seen' | 'atStart', readonly string[]>>;
  expect(statuses).toEqual({ answers: 200, lists: 200 });
  expect(atStart).toContain('fastify');
  expect(seen.filter((specifier) => LATE.test(specifier))).toEqual([]);
  expect(FOR_CLIENTS.filter((specifier) => atStart.includes(specifier))).toEqual([]);
  expect(FOR_CLIENTS.filter((specifier) => !seen.includes(specifier))).toEqual([]);
});
