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
  await server.close();
  console.log(JSON.stringify({ seen, answers }));
`;

/** Loaded when they are first used, or by nothing of ours. */
const NOT_AT_START =
  /^(?:@ai-sdk\/|@fastify\/(?:ajv|fast-json|swagger)|ajv|fast-json-stringify$|@modelcontextprotocol\/|@octokit\/|@gitbeaker\/|@opentelemetry\/|aws4fetch$|prom-client$|pg$|pg-|@tendon\/core\/postgres|\.\.\/(?:retention\/retention|erasure\/(?:erasures|erased-authors)|audit\/open-audit)\.ts$|\.\/(?:push-encryption|send-push|vapid-key)\.ts$)/;

it('SV600: a server answers before it has loaded compilers of schemas, providers of models, clients of git hosts, MCP or Postgres', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tendon-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const args = ['--conditions=tendon-source', '--input-type=module', '-e', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, TENDON_HOME: home },
    maxBuffer: 16 * 1024 ** 2,
  });
  const { seen, answers } = JSON.parse(stdout) as { readonly seen: readonly string[]; readonly answers: number };
  expect(answers).toBe(200);
  expect(seen).toContain('fastify');
  expect(seen.filter((specifier) => NOT_AT_START.test(specifier))).toEqual([]);
});
