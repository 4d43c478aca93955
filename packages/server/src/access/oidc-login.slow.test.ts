import { expect, it, describe } from 'vitest';
import { plainClient, testServer, type TestServer } from '../server.test-support.ts';
import { Browser, CLIENT, forgingProvider, testProvider, type Account, type TestProvider } from './oidc.test-support.ts';

const KEY = 'the-key-of-the-server';
const ADA: Account = { name: 'Ada', email: 'ada@example.org', email_verified: true, groups: ['eng'] };

async function staged(accounts: Record<string, Account> = { ada: ADA }, env: Record<string, string> = {}) {
  const provider = await testProvider(accounts);
  return { provider, server: await serverAt(provider, env) };
}

async function serverAt(provider: Pick<TestProvider, 'env'>, env: Record<string, string> = {}): Promise<TestServer> {
  const server = await testServer({ sessionApiKey: KEY, env: { ...provider.env, ...env } });
  return { ...server, url: server.url.replace('localhost', '127.0.0.1') };
}

async function whoIs(server: TestServer, browser: Browser): Promise<Record<string, unknown>> {
  const answer = await server.get('/api/whoami', browser.headers(server.url));
  return answer.status === 200 ? ((await answer.json()) as Record<string, unknown>) : { status: answer.status };
}

async function signedIn(server: TestServer, as: string): Promise<Browser> {
  const browser = new Browser(as);
  await browser.get(`${server.url}/login/oidc`);
  return browser;
}

describe('SV1301: a login at the identity provider', () => {
  it('leads back to the page that was wanted, with a session of the person', async () => {
    const { server } = await staged();
    const browser = new Browser('ada');
    const page = await browser.get(`${server.url}/login/oidc?next=${encodeURIComponent('/conversations/x')}`);
    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/conversations/x']);
    expect(await whoIs(server, browser)).toMatchObject({
      has_users: true,
      scope: 'drive',
      administers_server: false,
      user: { name: 'Ada' },
      organisation: { id: 'default', role: 'member' },
    });
    expect(browser.cookiesAt(server.url)).not.toContain('tendon_oidc');
  });

  it('is offered at the login page, which a page of the app leads to, also on loopback', async () => {
    const { server, provider } = await staged();
    const page = await server.get('/');
    expect(await page.text()).toContain(`Sign in at ${new URL(provider.issuer).host}`);
  });

  it('is not there without an identity provider', async () => {
    const server = await testServer({ sessionApiKey: KEY });
    expect((await server.get('/login/oidc')).status).toBe(404);
    expect((await server.get('/login/oidc/callback')).status).toBe(404);
    expect(await (await server.get('/login')).text()).not.toContain('oidc');
    const answer = await server.get('/api/whoami', { 'x-session-api-key': KEY });
    expect(await answer.json()).toEqual({
      has_users: false,
      scope: 'admin',
      administers_server: true,
      user: null,
      organisation: null,
      organisations: [],
    });
  });

  it('can be completed by another server over the same store and secret', async () => {
    const { server, provider } = await staged({ ada: ADA }, { JWT_SECRET: 'the-secret-of-all-servers' });
    const other = await serverAt(provider, { JWT_SECRET: 'the-secret-of-all-servers' });
    const browser = new Browser('ada');
    const back = await browser.untilCallback(server.url);
    const answer = await fetch(back.replace(server.url, other.url), {
      redirect: 'manual',
      headers: { cookie: browser.cookiesAt(server.url) },
    });
    // The provider is asked with the address at which it led back, so the asking address does not matter.
    expect([answer.status, answer.headers.getSetCookie().some((line) => line.startsWith('tendon_session='))]).toEqual([303, true]);
  });

  it('ends with the session, at the provider too', async () => {
    const { server, provider } = await staged();
    const browser = await signedIn(server, 'ada');
    const answer = await server.post('/api/logout', {}, browser.headers(server.url));
    const { redirect } = (await answer.json()) as { redirect: string };
    expect(redirect.startsWith(`${provider.issuer}/session/end?`)).toBe(true);
    expect(new URL(redirect).searchParams.get('client_id')).toBe(CLIENT.id);
    expect(await whoIs(server, browser)).toEqual({ status: 401 });
  });
});

describe('SV1302: a login counts for nothing', () => {
  const pageOf = async (answer: Response) => [answer.status, /role="alert">([^<]*)/.exec(await answer.text())?.[1]];

  it('in a browser that did not begin it, with another state, and a second time', async () => {
    const { server } = await staged();
    const [ada, eve] = [new Browser('ada'), new Browser('ada')];
    const back = await ada.untilCallback(server.url);
    expect(await pageOf(await eve.get(back))).toEqual([400, expect.stringContaining('not begun in this browser')]);
    const cookie = ada.cookiesAt(server.url);
    const forged = new URL(back);
    forged.searchParams.set('state', 'another');
    expect((await fetch(forged, { headers: { cookie } })).status).toBe(400);
    expect((await fetch(back, { headers: { cookie }, redirect: 'manual' })).status).toBe(303);
    const replayed = await fetch(back, { headers: { cookie }, redirect: 'manual' });
    expect(await pageOf(replayed)).toEqual([400, expect.stringContaining('was completed already')]);
    expect(replayed.headers.getSetCookie().join()).not.toContain('tendon_session');
  });

  it('when the provider lets nobody in, in its words', async () => {
    const { server } = await staged();
    const page = await new Browser('nobody').get(`${server.url}/login/oidc`);
    expect(await pageOf(page)).toEqual([403, expect.stringContaining('did not let you in: nobody of this name')]);
  });

  it.each([
    ['is for another client', { aud: 'another' }],
    ['is over', { exp: Math.floor(Date.now() / 1000) - 600 }],
    ['is of another issuer', { iss: 'https://other.example' }],
    ['answers another login', { nonce: 'another' }],
  ])('whose token %s', async (_what, claims) => {
    const provider = await forgingProvider();
    const server = await serverAt({ env: { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id } });
    provider.forge(claims);
    const page = await new Browser('eve').get(`${server.url}/login/oidc`);
    expect(await pageOf(page)).toEqual([502, expect.stringContaining('cannot be trusted')]);
    provider.forge({});
    expect(await whoIs(server, await signedIn(server, 'eve'))).toMatchObject({ user: { name: 'Eve' } });
  });

  it('whose token another key has signed', async () => {
    const provider = await forgingProvider();
    const server = await serverAt({ env: { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id } });
    provider.forge({}, 'another key');
    expect((await new Browser('eve').get(`${server.url}/login/oidc`)).status).toBe(502);
  });

  it('at an open redirect', async () => {
    const { server } = await staged();
    const page = await new Browser('ada').get(`${server.url}/login/oidc?next=${encodeURIComponent('//evil.example/')}`);
    expect(new URL(page.url).origin).toBe(server.url);
  });
});

describe('SV1303: the provider', () => {
  it('may sign with a new key at any time', async () => {
    const { server, provider } = await staged();
    await signedIn(server, 'ada');
    await provider.rotate();
    expect(await whoIs(server, await signedIn(server, 'ada'))).toMatchObject({ user: { name: 'Ada' } });
  });

  it('that does not answer keeps nobody out who is in, and a page says what to do', async () => {
    const { server, provider } = await staged();
    const browser = await signedIn(server, 'ada');
    const other = new Browser('ada');
    const back = await other.untilCallback(server.url);
    await provider.stop();
    const page = await other.get(back);
    expect([page.status, await page.text()]).toEqual([502, expect.stringContaining('does not answer. Try again in a moment')]);
    expect(await whoIs(server, browser)).toMatchObject({ user: { name: 'Ada' } });
    const fresh = await serverAt(provider);
    const down = await new Browser('ada').get(`${fresh.url}/login/oidc`);
    expect([down.status, await down.text()]).toEqual([502, expect.stringContaining('Try again in a moment')]);
    await provider.start();
    expect(await whoIs(fresh, await signedIn(fresh, 'ada'))).toMatchObject({ user: { name: 'Ada' } });
  });
});

describe('SV1304: who may come in', () => {
  const BOB: Account = { name: 'Bob', email: 'bob@other.example', email_verified: true };
  const UNVERIFIED: Account = { name: 'Eve', email: 'eve@example.org' };

  it('is decided by the domain of a verified address', async () => {
    const { server, provider } = await staged({ ada: ADA, bob: BOB, eve: UNVERIFIED }, { OIDC_ALLOWED_DOMAINS: 'Example.org' });
    const statusOf = async (as: string) => (await new Browser(as).get(`${server.url}/login/oidc`)).status;
    expect([await statusOf('ada'), await statusOf('bob'), await statusOf('eve')]).toEqual([200, 403, 403]);
    const trusting = await serverAt(provider, { OIDC_ALLOWED_DOMAINS: 'example.org', OIDC_TRUST_EMAIL: 'true' });
    expect(await whoIs(trusting, await signedIn(trusting, 'eve'))).toMatchObject({ user: { name: 'Eve' } });
  });

  it('and as what, by groups, as of each login', async () => {
    const { server, provider } = await staged(
      { ada: ADA, bob: BOB },
      { OIDC_ROLES: 'eng=acme:member, eng-leads=acme:admin, eng-leads=labs:viewer' },
    );
    expect((await new Browser('bob').get(`${server.url}/login/oidc`)).status).toBe(403);
    const first = await signedIn(server, 'ada');
    expect(await whoIs(server, first)).toMatchObject({ scope: 'drive', organisations: [{ id: 'acme', role: 'member' }] });
    const socket = await plainClient(server, '', first.headers(server.url));
    provider.accounts.set('ada', { ...ADA, groups: ['eng-leads'] });
    const second = await signedIn(server, 'ada');
    expect(await whoIs(server, second)).toMatchObject({
      scope: 'admin',
      organisation: { id: 'acme' },
      organisations: [
        { id: 'acme', role: 'admin' },
        { id: 'labs', role: 'viewer' },
      ],
    });
    // What a connection could do, it can no longer: it begins anew, as what they are now.
    expect(await socket.closed).toBe(1008);
    expect(await whoIs(server, first)).toMatchObject({ scope: 'admin' });
    provider.accounts.set('ada', { ...ADA, groups: [] });
    expect((await new Browser('ada').get(`${server.url}/login/oidc`)).status).toBe(403);
  });

  it('a person in two organisations acts in one at a time', async () => {
    const { server } = await staged({ ada: ADA }, { OIDC_ROLES: 'eng=acme:member,eng=labs:viewer' });
    const browser = await signedIn(server, 'ada');
    const answer = await server.post('/api/whoami/organisation', { organisation_id: 'labs' }, browser.headers(server.url));
    const [cookie] = answer.headers.getSetCookie();
    const now = await server.get('/api/whoami', { cookie: cookie!.split(';')[0]! });
    expect(await now.json()).toMatchObject({ scope: 'read', organisation: { id: 'labs', role: 'viewer' } });
    expect(await whoIs(server, browser)).toEqual({ status: 401 });
    expect((await server.post('/api/whoami/organisation', { organisation_id: 'none' }, browser.headers(server.url))).status).toBe(401);
  });
});
