import { join } from 'node:path';
import { expect, it } from 'vitest';
import { threatsDocument } from '../isolation/escape/threats-document.ts';

it('SB120: the published table of threats is the one that is run', async () => {
  await expect(threatsDocument()).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/spec/threats.md'));
});
