/** A real identity provider on a free port, a browser without a screen, and a provider that answers whatever a test wants. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
// @ts-expect-error: it has no types
import { Provider } from 'oidc-provider';
import { onTestFinished } from 'vitest';

export interface Account {
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
}

export const CLIENT = { id: 'tendon', secret: 'the-secret-of-tendon-at-the-provider' } as const;

export interface TestProvider {
  readonly issuer: string;
  /** By subject; as of the next login. */
  readonly accounts: Map<string, Account>;
  /** Variables of a server whose people sign in here. */
  readonly env: Readonly<Record<string, string>>;
  /** It signs with another key from now on, and has forgotten the one before. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** `oidc-provider`, certified: who comes by `Browser` is whom its `as` names. */
export async function testProvider(accounts: Readonly<Record<string, Account>>): Promise<TestProvider> {
  const known = new Map(Object.entries(accounts));
  let provider = { callback: () => (_request: IncomingMessage, response: ServerResponse) => void response.end() };
  const http = createServer((request, response) => void handle(request, response));
  let port = 0;
  const start = async (): Promise<void> => {
    http.listen(port, '127.0.0.1');
    await once(http, 'listening');
    ({ port } = http.address() as AddressInfo);
  };
  const stop = async (): Promise<void> => {
    const closed = once(http, 'close');
    http.close().closeAllConnections();
    await closed;
  };
  await start();
  const issuer = `http://127.0.0.1:${port}`;
  const rotate = async (): Promise<void> => {
    const made = new Provider(issuer, await providerConfig(known));
    // Servers of tests listen anywhere.
    made.Client.prototype.redirectUriAllowed = (to: string) => to.endsWith('/login/oidc/callback');
    provider = made;
  };
  await rotate();
  onTestFinished(async () => (http.listening ? stop() : undefined));

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, asked] = /^\/interaction\/[\w-]+\?as=(.*)$/.exec(request.url!) ?? [];
    if (asked === undefined) return provider.callback()(request, response);
    const { interactionFinished } = provider as unknown as { interactionFinished: (...args: unknown[]) => Promise<void> };
    const as = decodeURIComponent(asked);
    const result = known.has(as) ? { login: { accountId: as } } : { error: 'access_denied', error_description: 'nobody of this name' };
    await interactionFinished.call(provider, request, response, result, { mergeWithLastSubmission: false });
  }

  const env = {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_SCOPES: 'openid profile email groups',
  };
  return { issuer, accounts: known, env, rotate, stop, start };
}

interface Grant {
  addOIDCScope(scopes: string): void;
  save(): Promise<string>;
}
interface GrantContext {
  readonly oidc: {
    readonly provider: { readonly Grant: new (of: object) => Grant };
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

async function providerConfig(accounts: ReadonlyMap<string, Account>): Promise<object> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: ['http://127.0.0.1/login/oidc/callback'] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['keys of the cookies of a test'] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, AuthorizationCode: 60, IdToken: 600 },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  };
}

/** Follows redirects and keeps cookies, as a browser does. */
export class Browser {
  readonly #cookies = new Map<string, string>();
  /** Who types at the provider. */
  readonly #as: string;

  constructor(as: string) {
    this.#as = as;
  }

  /** The `Cookie` header at this origin. */
  cookiesAt(url: string): string {
    const origin = `${new URL(url).origin} `;
    return [...this.#cookies]
      .flatMap(([name, value]) => (name.startsWith(origin) ? [`${name.slice(origin.length)}=${value}`] : []))
      .join('; ');
  }

  async get(address: string, { follows = true } = {}): Promise<Response> {
    let url = address;
    for (let hops = 0; hops < 20; hops += 1) {
      const response = await fetch(url, { redirect: 'manual', headers: { cookie: this.cookiesAt(url) } });
      this.#keep(url, response);
      const location = response.headers.get('location');
      if (!follows || location === null) return response;
      const next = new URL(location, url);
      if (next.pathname.startsWith('/interaction/')) next.searchParams.set('as', this.#as);
      url = next.href;
    }
    throw new Error(`${address} leads around in a circle`);
  }

  /** Up to the address at which the provider leads back. */
  async untilCallback(server: string, next = '/'): Promise<string> {
    let url = `${server}/login/oidc?next=${encodeURIComponent(next)}`;
    for (let hops = 0; hops < 20; hops += 1) {
      const location: string | null = (await this.get(url, { follows: false })).headers.get('location');
      if (location === null) throw new Error(`${url} leads nowhere`);
      const to = new URL(location, url);
      if (to.pathname.startsWith('/interaction/')) to.searchParams.set('as', this.#as);
      url = to.href;
      if (to.pathname === '/login/oidc/callback') return url;
    }
    throw new Error('the provider does not lead back');
  }

  /** What the app's own page sends. */
  headers(server: string): Record<string, string> {
    return { cookie: this.cookiesAt(server), origin: server, 'x-tendon-request': '1' };
  }

  #keep(url: string, { headers }: Response): void {
    const { origin } = new URL(url);
    for (const line of headers.getSetCookie()) {
      const [, name, value = ''] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '' || /max-age=0/i.test(line)) this.#cookies.delete(`${origin} ${name}`);
      else this.#cookies.set(`${origin} ${name}`, value);
    }
  }
}

/** A provider that signs what a test says: claims beside those that are right, with its own key or another. */
export async function forgingProvider(): Promise<{ readonly issuer: string; forge: (claims: JWTPayload, by?: 'another key') => void }> {
  const [own, other] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'one', use: 'sig', alg: 'RS256' };
  let forged: { claims: JWTPayload; by?: 'another key' | undefined } = { claims: {} };
  const nonces = new Map<string, string>();
  let issuer = '';
  const idToken = (nonce: string): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: CLIENT.id,
      sub: 'eve',
      nonce,
      iat: now,
      exp: now + 600,
      name: 'Eve',
      email: 'eve@example.org',
      groups: [],
      ...forged.claims,
    };
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(forged.by ? other.privateKey : own.privateKey);
  };
  const http = createServer((request, response) => {
    const url = new URL(request.url!, issuer);
    const json = (body: object): void => void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (url.pathname === '/.well-known/openid-configuration')
      return json({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    if (url.pathname === '/jwks') return json({ keys: [jwk] });
    if (url.pathname === '/auth') {
      const code = `code-${nonces.size}`;
      nonces.set(code, url.searchParams.get('nonce')!);
      const back = new URL(url.searchParams.get('redirect_uri')!);
      back.search = new URLSearchParams({ code, state: url.searchParams.get('state')! }).toString();
      return void response.writeHead(303, { location: back.href }).end();
    }
    request.resume();
    void idToken([...nonces.values()].at(-1)!).then((id_token) =>
      json({ access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token }),
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  onTestFinished(() => void http.close().closeAllConnections());
  return { issuer, forge: (claims, by) => (forged = { claims, by }) };
}
