import { describe, expect, it } from 'vitest';
import { makePlace, tendon } from '../tendon-child.test-support.ts';
import { conform } from './conform.ts';
import { deadAddress, oddServer, type Answering } from './odd-server.test-support.ts';
import { hasFailed } from './result.ts';

const json = (response: Parameters<Answering>[1], status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** Takes the settings and tells of itself, as an agent server would; what else it is asked is `rest`. */
const agreeable =
  (rest: Answering, paths: readonly string[] = ['/api/conversations']): Answering =>
  (request, response, server) => {
    if (request.url === '/api/settings') return json(response, 200, {});
    if (request.url !== '/openapi.json') return rest(request, response, server);
    json(response, 200, { info: { title: 'Odd', version: '1' }, paths: Object.fromEntries(paths.map((path) => [path, {}])) });
  };

const GREETED: readonly (readonly [string, Answering, RegExp])[] = [
  [
    'answers with pages',
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    /answers with a page/,
  ],
  ['drops connections', (request) => void request.socket.destroy(), /does not answer: /],
  ['refuses', (_request, response) => json(response, 401, { detail: 'no' }), /give its key with --key/],
  [
    'breaks',
    (_request, response) => json(response, 500, { detail: 'x'.repeat(1000) }),
    /does not take settings: POST \/api\/settings is 500/,
  ],
];

describe('DL98: the command, at a server that is none', () => {
  it('says that nothing listens, and ends with 1', async () => {
    const url = await deadAddress();
    const { code, stdout, stderr } = await tendon(makePlace(), ['conformance', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${url} does not answer: .*ECONNREFUSED`));
  });

  it('says that it hangs, and ends with 1', async () => {
    const url = await oddServer(() => {});
    const { code, stderr } = await tendon(makePlace(), ['conformance', url, '--patience', '1']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${url} does not answer: it said nothing for 1 s\n` });
  });

  it.each(GREETED)('says when it %s, and ends with 1', async (_how, answer, words) => {
    const url = await oddServer(answer);
    const { code, stdout, stderr } = await tendon(makePlace(), ['conformance', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(words);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr.length).toBeLessThan(400);
  });
});

describe('DL98: a run', () => {
  const levels = ['ws-readme', 'v0-rest'] as const;

  it('tells each check of a server that knows nothing, in one short line', async () => {
    const url = await oddServer(agreeable((_request, response) => json(response, 404, { detail: `Not Found${'\n'.repeat(300)}` })));
    const found = await conform({ url, levels });
    expect(hasFailed(found)).toBe(true);
    const told = found.results.filter(({ verdict }) => verdict === 'failed').map(({ why }) => why!);
    expect(told.length).toBeGreaterThan(30);
    expect(told.filter((why) => why.length > 201 || why.includes('\n'))).toEqual([]);
  });

  it.each<readonly [string, number, Answering]>([
    ['hangs', 4_000, () => {}],
    ['drops connections', 30_000, (request) => void request.socket.destroy()],
    ['goes away', 30_000, (request, _response, server) => (server.close(), server.closeAllConnections(), void request.socket.destroy())],
  ])('does not wait with every check for a server that %s', async (_how, patienceMs, rest) => {
    const url = await oddServer(agreeable(rest));
    const { results } = await conform({ url, levels, patienceMs });
    expect(results.filter(({ verdict }) => verdict === 'passed').map(({ check }) => check.id)).toEqual([]);
    const unasked = results.filter(({ why }) => why === 'not asked: the server does not answer any more');
    expect(unasked.length).toBeGreaterThan(results.length / 2);
  });
});

describe('DL97: what a server does not offer', () => {
  it('is told as not asked, with what is missing, and counts for nothing', async () => {
    const url = await oddServer(agreeable((_request, response) => json(response, 404, {})));
    const { results } = await conform({ url, only: ['v0-rest/keys', 'v0-rest/login'] });
    expect(results.map(({ check, verdict, why }) => [check.id, verdict, why])).toEqual([
      ['v0-rest/keys', 'absent', 'not offered: there is no route /api/keys'],
      ['v0-rest/login', 'absent', 'not asked: it is about a server with a key, and the run has no --key'],
    ]);
    expect(hasFailed({ url, server: '', results })).toBe(false);
  });

  it('is asked when the route is there by whatever name its parameters have', async () => {
    const paths = ['/api/conversations/{conversation_id}/shares'];
    const url = await oddServer(agreeable((_request, response) => json(response, 404, {}), paths));
    const { results } = await conform({ url, only: ['v0-rest/shares'] });
    expect(results.map(({ verdict }) => verdict)).toEqual(['failed']);
  });
});
