import { expect, it } from 'vitest';
import { Diagnostics } from './diagnostics.ts';

it('RT832: an edit does not wait for a shell that has not started', async () => {
  const diagnostics = new Diagnostics({ workspace: '/w', shell: () => new Promise(() => undefined) });
  expect(await diagnostics.afterEdit([{ path: '/w/a.ts', text: '' }], new AbortController().signal)).toBe('');
});
