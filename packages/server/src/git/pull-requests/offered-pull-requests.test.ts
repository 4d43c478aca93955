import { expect, it } from 'vitest';
import { fakeGitHub, GITHUB_TOKEN } from '../../git-providers/apis/fake-github.test-support.ts';
import { socketIoClient, testServer, type TestServer, type WireFrame } from '../../server.test-support.ts';

const PULL = { repo_name: 'ann/tools', source_branch: 'fix', target_branch: 'main', title: 'Mend it' };
const script = [{ toolCalls: [{ name: 'create_pr', arguments: PULL }] }, { text: 'That was it.' }];

async function framesOf(server: TestServer, id: string): Promise<readonly WireFrame[]> {
  const { ask, frames } = await socketIoClient(server, { conversation_id: id });
  await ask('open it');
  return frames.all;
}

it('SV166: an agent opens a pull request while there is a token, and its number is in the list', async () => {
  const server = await testServer({ script });
  const fake = await fakeGitHub();
  await server.post('/api/add-git-providers', { provider_tokens: { github: { token: GITHUB_TOKEN, host: fake.origin } } });
  const id = await server.create();
  const frames = await framesOf(server, id);
  expect(frames.find(({ action }) => action === 'call_tool_mcp')).toMatchObject({ args: { name: 'create_pr', arguments: PULL } });
  expect(frames.find(({ observation }) => observation === 'mcp')).toMatchObject({
    content: 'https://github.example/ann/tools/pull/11',
    extras: { name: 'create_pr', arguments: PULL },
  });
  expect(await (await server.get(`/api/conversations/${id}`)).json()).toMatchObject({ pr_number: [11] });
});

it('SV166: without a token the tools are not there', async () => {
  const server = await testServer({ script });
  const frames = await framesOf(server, await server.create());
  expect(frames.some(({ action }) => action === 'call_tool_mcp')).toBe(false);
  expect(frames.find(({ observation }) => observation === 'error')?.content).toContain('There is no tool "create_pr"');
});
