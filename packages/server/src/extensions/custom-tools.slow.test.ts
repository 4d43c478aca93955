import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer } from '../server.test-support.ts';

const call = (name: string, args: object = {}) => ({ toolCalls: [{ name, arguments: args }] });
const SECRET = 'a-value-that-nobody-may-see';

it('EX922, EX927: a tool of the user is called as an MCP tool is: rules name it, and secrets are hidden in its result', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'tools'));
  const tool = (name: string, run: string) => `export default { name: '${name}', description: 'x', secrets: ['SHOP_KEY'], run: ${run} };`;
  writeFileSync(join(home, 'tools/look.ts'), tool('shop_look', '(args, { secrets }) => ({ found: secrets.SHOP_KEY })'));
  writeFileSync(join(home, 'tools/buy.ts'), tool('shop_buy', `() => 'It is bought.'`));
  const script = [call('shop_look'), call('shop_buy'), call('finish', { message: 'Done.' })];
  const server = await testServer({ home, script });
  await server.post('/api/secrets', { name: 'SHOP_KEY', value: SECRET });
  const confirmation_rules = [
    { decision: 'allow', tool: 'shop_look' },
    { decision: 'deny', tool: 'shop_buy' },
  ];
  await server.post('/api/settings', { confirmation_policy: 'rules', confirmation_rules });
  const { frames } = await socketIoClient(server, { conversation_id: await server.create({ initial_user_msg: 'go' }) });
  await frames.untilState('finished');
  const text = JSON.stringify(frames.all);
  expect(frames.all.find(({ observation }) => observation === 'mcp')).toMatchObject({
    content: expect.stringMatching(/^\{"found":"(?!a-value)/) as string,
    extras: { name: 'shop_look', is_own: true },
  });
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain('It is bought.');
  expect(text).toContain('a rule is about');
});
