import { expect, it } from 'vitest';
import { serve } from './sandboxes/sandboxes.test-support.ts';
import { makePlace, tendon } from './tendon-child.test-support.ts';

it('TR900, TR951: saved rules are listed by number and taken back, of the settings and of one conversation; secrets by name', async () => {
  const place = makePlace();
  const { server, url } = await serve(place, [{ text: 'hello' }]);
  const headers = { 'content-type': 'application/json' };
  const send = (method: string, path: string, body: object) => fetch(url + path, { method, headers, body: JSON.stringify(body) });
  expect(await tendon(place, ['rules'])).toEqual({ code: 0, stdout: 'No rules are saved.\n', stderr: '' });
  const push = { decision: 'deny', command: 'git push' };
  const make = { decision: 'allow', command: 'make', repository: 'a/b', git_provider: 'gitlab' };
  await send('POST', '/api/settings', { confirmation_rules: [push, make] });
  expect((await tendon(place, ['rules', 'list'])).stdout).toBe(
    '   1  deny   command git push\n   2  allow  command make (in a/b at gitlab)\n',
  );
  expect(await tendon(place, ['rules', 'remove', '3'])).toMatchObject({ code: 1, stderr: 'There is no rule 3: 2 are saved.\n' });
  expect((await tendon(place, ['rules', 'remove', 'one'])).code).toBe(2);
  expect((await tendon(place, ['rules', 'remove', '1'])).stdout).toBe('Taken back: deny   command git push\n');
  expect(JSON.parse((await tendon(place, ['rules', '--json'])).stdout)).toEqual({ rules: [make] });

  const { conversation_id: id } = (await (await send('POST', '/api/conversations', {})).json()) as { conversation_id: string };
  await send('PUT', `/api/conversations/${id}/confirmation`, { rules: [{ decision: 'allow', tool: 'browse' }] });
  expect((await tendon(place, ['rules', '--conversation', id])).stdout).toBe('   1  allow  tool browse\n');
  expect((await tendon(place, ['rules', 'remove', '1', '--conversation', id])).code).toBe(0);
  expect((await tendon(place, ['rules', '--conversation', id])).stdout).toBe('No rules are saved.\n');
  expect((await tendon(place, ['rules', '--conversation', 'none'])).code).toBe(1);

  // Of the same server: what else is named once and listed.
  const secrets = (...args: readonly string[]) => tendon(place, ['secrets', ...args], { input: 'a-value-of-its-own\n' });
  expect(await secrets('add', 'DEPLOY_KEY', '--host', 'Example.org', '--host', 'b.test', '--description', 'to deploy')).toEqual({
    code: 0,
    stdout: 'Stored: DEPLOY_KEY.\n',
    stderr: '',
  });
  expect((await secrets()).stdout).toBe('DEPLOY_KEY  to example.org, b.test  to deploy\n');
  expect((await secrets('hosts', 'DEPLOY_KEY')).stdout).toBe('DEPLOY_KEY may go anywhere.\n');
  expect(JSON.parse((await secrets('list', '--json')).stdout)).toEqual({ secrets: [{ name: 'DEPLOY_KEY', description: 'to deploy' }] });
  expect(await secrets('add', '1')).toMatchObject({ code: 1, stderr: expect.stringContaining('a name has letters') });
  expect((await secrets('remove', 'DEPLOY_KEY')).code).toBe(0);
  expect((await secrets('remove', 'DEPLOY_KEY')).code).toBe(1);
  server.signal('SIGTERM');
  await server.ended;
  expect(await tendon(place, ['rules'])).toMatchObject({ code: 1, stderr: expect.stringContaining('No server runs') });
}, 240_000);
