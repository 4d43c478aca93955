import * as fc from 'fast-check';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { fakeGitHub, GITHUB_TOKEN } from '../git-providers/apis/fake-github.test-support.ts';
import { fuzzTarget } from './fuzz-target.test-support.ts';
import { SEED } from './hostile-values.test-support.ts';
import { message } from './mcp-messages.test-support.ts';

const RUNS = runs(400);
const EVERY = 50;
/** Of what HTTP lets through; more would never reach the server. */
const header = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'binary-ascii', maxLength: 300 }).map((text) => text.replaceAll(/[^ -~]/g, '').trim()),
);

it('SV165: whatever a message to the tools says, and its headers, it is answered below 500, and nothing is opened that was not asked for', async () => {
  const target = await fuzzTarget();
  const github = await fakeGitHub();
  await target.post('/api/add-git-providers', { provider_tokens: { github: { token: GITHUB_TOKEN, host: github.origin } } });
  let sent = 0;
  const property = fc.asyncProperty(message, header, header, async (body, conversation, version) => {
    const headers = { 'x-openhands-serverconversation-id': conversation, ...(version && { 'mcp-protocol-version': version }) };
    const answer = await target.post('/mcp/mcp', body, headers);
    const text = await answer.text();
    expect(answer.status < 500, `${answer.status} ${text.slice(0, 200)}`).toBe(true);
    const { jsonrpc } = (answer.status === 202 ? { jsonrpc: '2.0' } : JSON.parse(text)) as { readonly jsonrpc?: unknown };
    expect(jsonrpc).toBe('2.0');
    if (++sent % EVERY === 0) await target.expectUnharmed();
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
  await target.expectUnharmed();
  expect(github.requests.filter((line) => line.startsWith('POST'))).toEqual([]);
}, 240_000);
