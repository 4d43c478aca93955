import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { place } from './workspace-place.test-support.ts';

it('SV313: a tree has 20,000 entries, and says that there are more', async () => {
  const { server, url, base } = await place();
  for (let n = 0; n < 20_001; n++) writeFileSync(join(base, `f${n}`), '');
  const response = await server.get(`${url}/files/tree`);
  expect(response.headers.get('x-tendon-truncated')).toBe('true');
  expect(((await response.json()) as { children: unknown[] }).children).toHaveLength(20_000);
});
