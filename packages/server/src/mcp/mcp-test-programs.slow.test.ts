import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { type TestServer, testServer } from '../server.test-support.ts';

const TOKEN = 'a-token-of-notes';
const NOTES = readFileSync(join(import.meta.dirname, '../../../../test/e2e/tool-server.py'), 'utf8');
const shell = (name: string, script: string) => ({ name, command: 'sh', args: ['-c', script], env: { NOTES_TOKEN: TOKEN } });

const PROGRAMS = [
  { name: 'my notes', command: 'python3', args: ['-c', NOTES], env: { NOTES_TOKEN: TOKEN } },
  shell('broken', 'echo "no database for $NOTES_TOKEN in $(pwd), $(ls -A | wc -l) files" >&2; exit 3'),
  shell('silent', 'sleep 600'),
];

async function serverWithPrograms(env: Readonly<Record<string, string>>): Promise<TestServer> {
  const server = await testServer({ env });
  await server.post('/api/settings', { mcp_config: { stdio_servers: PROGRAMS } });
  return server;
}

const test = async (server: TestServer, name: string): Promise<unknown> => (await server.post('/api/mcp/test', { server: name })).json();

it('SV1024: a program is tested in a sandbox of its own: its tools, or its last words without secrets; nothing of it is left', async () => {
  const server = await serverWithPrograms({ RUNTIME: 'local' });
  expect(await test(server, 'my notes')).toEqual({
    failure: null,
    tools: [
      { name: 'add', description: 'Keep a note.' },
      { name: 'wait', description: 'Wait for a file.' },
    ],
  });
  const words = 'the program ended with exit code 3: no database for <secret_hidden> in /workspace, 0 files';
  expect(await test(server, 'broken')).toEqual({ tools: [], failure: words });
  expect(await server.engine.runtimes.list()).toEqual([]);
});

itInFull('SV1024: its sandbox ends when the client goes away', async () => {
  const server = await serverWithPrograms({ RUNTIME: 'local' });
  const leaving = new AbortController();
  const answer = fetch(`${server.url}/api/mcp/test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ server: 'silent' }),
    signal: leaving.signal,
  });
  const states = async () => (await server.engine.runtimes.list()).map(({ state }) => state);
  await expect.poll(states, { timeout: 30_000 }).toEqual(['awake']);
  leaving.abort();
  await expect(answer).rejects.toThrow('aborted');
  await expect.poll(states, { timeout: 30_000 }).toEqual([]);
});

it('SV1024: without a sandbox no program is started, and the answer says so', async () => {
  const server = await serverWithPrograms({ RUNTIME: 'none' });
  expect(await test(server, 'broken')).toMatchObject({ tools: [], failure: expect.stringContaining('RUNTIME=none') });
});
