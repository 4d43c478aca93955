import { runs } from '@tendon/testing';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuzzTarget } from './fuzz-target.test-support.ts';
import { SEED } from './hostile-values.test-support.ts';
import { previewRequest } from './preview-requests.test-support.ts';
import { rawConnection } from './raw-connection.test-support.ts';

it('SV96: below the name of previews nothing of the server is reached, whatever Host, path and cookie say', async () => {
  const target = await fuzzTarget();
  const property = fc.asyncProperty(previewRequest, async (request) => {
    const raw = rawConnection(target.url);
    raw.write(request);
    const answer = await raw.closed;
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).not.toMatch(/"results"|"status":"ok"|"sid"|x-session|set-cookie/i);
  });
  await fc.assert(property, { numRuns: runs(200, 50), seed: SEED, endOnFailure: true });
  await target.expectUnharmed();
}, 300_000);
