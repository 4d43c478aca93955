import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { zodCompilers, type App } from '../platform/http/app.ts';
import { temporaryFolder } from '../server.test-support.ts';
import { extensionRoutes } from './extension-routes.ts';
import { enablePlugin } from './installed-plugins.ts';
import { ToolFiles } from './installed-tools.ts';

it('EX930: GET /api/extensions lists tools, hooks and plugins as their files are now, and what does not count', async () => {
  const home = temporaryFolder();
  const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
  const hook = { name: 'guard', match: 'run', command: './guard.sh', fail: 'block' };
  const files = {
    'tools/look.ts': `export default { name: 'look', description: 'Looks.', readOnly: true, run() {} };`,
    'tools/broken.ts': 'export default {',
    'hooks.json': JSON.stringify({ hooks: { before_action: [hook] } }),
    'plugins/shop/plugin.json': JSON.stringify({ $schema, name: 'shop', version: '1.0.0' }),
    'plugins/shop/dev.tendon/hooks.json': JSON.stringify({ hooks: { stop: [{ command: 'true' }] } }),
    'plugins/shop/skills/buy/SKILL.md': 'How.',
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
  await enablePlugin(home, 'shop', false);
  const app: App = fastify({ schemaController: zodCompilers });
  extensionRoutes(app, { config: { home }, toolFiles: new ToolFiles({ now: () => new Date(0) }) });
  const answer = await app.inject('/api/extensions');
  expect(answer.json()).toEqual({
    tools: [{ name: 'look', description: 'Looks.', file: join(home, 'tools/look.ts'), is_read_only: true }],
    hooks: [{ name: 'guard', moment: 'before_action', match: 'run', command: './guard.sh', blocks_on_failure: true }],
    plugins: [{ id: 'shop', version: '1.0.0', description: '', is_enabled: false, brings: ['skills', '1 hook'] }],
    problems: [expect.stringContaining('broken.ts does not count')],
  });
});
