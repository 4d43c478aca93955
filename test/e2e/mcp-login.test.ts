import { expect, it } from 'vitest';
import { loginServer } from '../../packages/server/src/mcp/oauth/login-server.test-support.ts';
import { makePlace, startTendon, tendon } from '../../packages/cli/src/tendon-child.test-support.ts';

it('EN904: a person logs in to an MCP server from the command line, and out again', async () => {
  const there = await loginServer();
  const place = makePlace();
  expect((await tendon(place, ['mcp'])).stderr).toContain('start it with "tendon serve"');
  const env = { MCP_CONFIG: JSON.stringify({ shttp_servers: [there.mcp] }) };
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script([])], { env });
  await server.until('workspace');
  const login = startTendon(place, ['mcp', 'login', '127_0_0_1']);
  await login.until('state=');
  expect((await fetch(await there.permit(/http:\S+\/authorize\?\S+/.exec(login.stderr)![0]))).status).toBe(200);
  expect([await login.ended, login.stdout]).toEqual([0, 'Logged in to 127_0_0_1.\n']);
  expect((await tendon(place, ['mcp'])).stdout).toContain(`127_0_0_1  ${there.mcp}  logged in since `);
  expect((await tendon(place, ['mcp', 'logout', '127_0_0_1'])).code).toBe(0);
  expect((await tendon(place, ['mcp', 'logout', '127_0_0_1'])).stderr).toContain('no login');
  server.signal('SIGTERM');
  await server.ended;
});
