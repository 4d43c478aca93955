import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { place } from './workspace-place.test-support.ts';

it('SV313: a tree has 20,000 entries, and says that there are more', async () => {
  const { server, url, base, put } = await place();
  // Names of one file: making as many files takes three times as long.
  put('f0', '');
  for (let n = 1; n < 20_001; n++) linkSync(join(base, 'f0'), join(base, `f${n}`));
  const response = await server.get(`${url}/files/tree`);
  expect(response.headers.get('x-tendon-truncated')).toBe('true');
  expect(((await response.json()) as { children: unknown[] }).children).toHaveLength(20_000);
});
