import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0';
const SERVERS = {
  shop: { type: 'streamable-http', url: 'https://shop.example.com/mcp' },
  local: { type: 'stdio', command: './run' },
};

it('EX913: tendon plugins lists what each brings and what does not count, and enables and disables one', async () => {
  const place = makePlace();
  expect(await tendon(place, ['plugins'])).toMatchObject({ code: 0, stdout: expect.stringContaining('There are no plugins') as string });
  const put = (path: string, content: unknown): void => {
    const file = join(place.home, '.tendon/plugins/shop', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  };
  put('plugin.json', { $schema: `${SCHEMAS}/plugin.schema.json`, name: 'shop', version: '1.2.0', description: 'Buys things.' });
  put('skills/buy/SKILL.md', 'How.');
  put('dev.tendon/hooks.json', { hooks: { stop: [{ name: 'bill', command: 'true' }] } });
  const lines = ['shop 1.2.0', '  Buys things.', '  skills', '  hook stop: true'];
  expect(await tendon(place, ['plugins'])).toMatchObject({ code: 0, stdout: `${lines.join('\n')}\n` });
  expect(await tendon(place, ['plugins', 'disable', 'shop'])).toMatchObject({
    code: 0,
    stdout: `${lines.join('\n').replace('\n', ' (disabled)\n')}\n`,
  });
  expect(await tendon(place, ['hooks'])).toMatchObject({ code: 0, stdout: expect.stringContaining('There are no hooks') as string });
  put('mcp.json', { $schema: `${SCHEMAS}/mcp.schema.json`, mcpServers: SERVERS });
  const { code, stdout } = await tendon(place, ['plugins', 'enable', 'shop', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    plugins: [
      {
        id: 'shop',
        is_enabled: true,
        mcp_servers: ['https://shop.example.com/mcp'],
        problems: [expect.stringContaining('(stdio)') as string],
      },
    ],
    problems: [],
  });
  expect(await tendon(place, ['plugins', 'disable', 'other'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('no plugin other') as string,
  });
});
