import { type Answering, answerJson, oddServer } from '@tendon/testing/servers';
import { describe, expect, it } from 'vitest';
import { conform } from './conform.ts';
import { hasFailed } from '../check.ts';

/** Takes the settings and names itself, as an agent server would; what else it is asked is `rest`. */
const agreeable =
  (rest: Answering, paths: readonly string[] = ['/api/conversations']): Answering =>
  (request, response, server) => {
    if (request.url === '/api/settings') return answerJson(response, 200, {});
    if (request.url !== '/openapi.json') return rest(request, response, server);
    answerJson(response, 200, { info: { title: 'Odd', version: '1' }, paths: Object.fromEntries(paths.map((path) => [path, {}])) });
  };

describe('DL98: a run', () => {
  const levels = ['ws-readme', 'v0-rest'] as const;

  it('reports each check of a server that knows nothing, in one short line', async () => {
    const url = await oddServer(agreeable((_request, response) => answerJson(response, 404, { detail: `Not Found${'\n'.repeat(300)}` })));
    const found = await conform({ url, levels });
    expect(hasFailed(found)).toBe(true);
    const reasons = found.results.filter(({ verdict }) => verdict === 'failed').map(({ why }) => why!);
    expect(reasons.length).toBeGreaterThan(30);
    expect(reasons.filter((why) => why.length > 201 || why.includes('\n'))).toEqual([]);
  });

  it.each<readonly [string, number, Answering]>([
    ['hangs', 4_000, () => {}],
    ['drops connections', 30_000, (request) => void request.socket.destroy()],
    ['goes away', 30_000, (request, _response, server) => (server.close(), server.closeAllConnections(), void request.socket.destroy())],
  ])('does not wait with every check for a server that %s', async (_how, timeoutMs, rest) => {
    const url = await oddServer(agreeable(rest));
    const { results } = await conform({ url, levels, timeoutMs });
    expect(results.filter(({ verdict }) => verdict === 'passed').map(({ check }) => check.id)).toEqual([]);
    const unasked = results.filter(({ why }) => why === 'not asked: the server does not answer any more');
    expect(unasked.length).toBeGreaterThan(results.length / 2);
  });
});

describe('DL97: what a server does not offer', () => {
  it('is reported as not asked, with what is missing, and counts for nothing', async () => {
    const url = await oddServer(agreeable((_request, response) => answerJson(response, 404, {})));
    const { results } = await conform({ url, only: ['v0-rest/keys', 'v0-rest/login'] });
    expect(results.map(({ check, verdict, why }) => [check.id, verdict, why])).toEqual([
      ['v0-rest/keys', 'absent', 'not offered: there is no route /api/keys'],
      ['v0-rest/login', 'absent', 'not asked: it is about a server with a key, and the run has no --key'],
    ]);
    expect(hasFailed({ url, server: '', results })).toBe(false);
  });

  it('is asked when the route is there by whatever name its parameters have', async () => {
    const paths = ['/api/conversations/{conversation_id}/shares'];
    const url = await oddServer(agreeable((_request, response) => answerJson(response, 404, {}), paths));
    const { results } = await conform({ url, only: ['v0-rest/shares'] });
    expect(results.map(({ verdict }) => verdict)).toEqual(['failed']);
  });
});
