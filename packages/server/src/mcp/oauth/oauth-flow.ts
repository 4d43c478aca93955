/**
 * The steps of a login to an MCP server: where its authorization server is, the address that a person opens, and tokens for the code
 * that comes back. Authorization code with PKCE, RFC 9728 for the way there, RFC 7591 where a client can register itself. It stores
 * nothing. What fails rejects with a `LoginProblem`, which never quotes what an address answered.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isLoginAddress, LoginProblem, oauthFetch } from './oauth-fetch.ts';

const OAuthClient = z.object({ client_id: z.string(), client_secret: z.string().optional() });
export type OAuthClient = z.output<typeof OAuthClient>;

const Endpoints = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string().optional(),
  response_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()).default([]),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().default(false),
});

/** Who gives tokens for an MCP server, and to which client. */
export const OAuthGrant = z.object({
  resource: z.string(),
  scope: z.string().optional(),
  endpoints: Endpoints,
  client: OAuthClient,
  /** The client is registered for this address alone. */
  redirect: z.string(),
});
export type OAuthGrant = z.output<typeof OAuthGrant>;

/** A token goes into a header: other characters would end it. */
const Token = z
  .string()
  .max(16 * 1024)
  .regex(/^[\x21-\x7e]+$/);
const TokenAnswer = z.object({
  access_token: Token,
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().optional(),
  refresh_token: Token.optional(),
});
export type TokenAnswer = z.output<typeof TokenAnswer>;

export interface LoginRequest {
  /** The MCP server. */
  readonly url: string;
  readonly redirect: string;
  /** Where clients cannot register themselves, the one that the operator was given. */
  readonly client?: OAuthClient | undefined;
  /** Of an earlier login: its client is taken again where it still fits. */
  readonly before?: OAuthGrant | undefined;
}

export interface StartedLogin {
  readonly grant: OAuthGrant;
  readonly verifier: string;
  /** What the callback must bring. */
  readonly state: string;
  /** A person opens it. */
  readonly authorizationUrl: string;
}

export async function startLogin(request: LoginRequest): Promise<StartedLogin> {
  const { url, redirect } = request;
  const { startAuthorization } = await import('@modelcontextprotocol/sdk/client/auth.js');
  const found = await discover(url);
  const client = await clientFor(request, found.endpoints);
  const grant: OAuthGrant = { ...found, client, redirect };
  const state = randomBytes(32).toString('base64url');
  const { authorizationUrl, codeVerifier } = await startAuthorization(found.endpoints.issuer, {
    metadata: found.endpoints,
    clientInformation: client,
    redirectUrl: redirect,
    state,
    resource: found.resource,
    ...(found.scope !== undefined && { scope: found.scope }),
  });
  return { grant, verifier: codeVerifier, state, authorizationUrl: authorizationUrl.href };
}

/** `iss`: as the callback named it, if it did. */
export async function finishLogin(
  url: string,
  { grant, verifier }: Pick<StartedLogin, 'grant' | 'verifier'>,
  { code, iss }: { readonly code: string; readonly iss?: string | undefined },
): Promise<TokenAnswer> {
  const { endpoints, client, resource, redirect } = grant;
  const isNamed = iss !== undefined || endpoints.authorization_response_iss_parameter_supported;
  if (isNamed && iss !== endpoints.issuer)
    throw new LoginProblem('the answer came from another authorization server than the one that was asked');
  const { exchangeAuthorization } = await import('@modelcontextprotocol/sdk/client/auth.js');
  return answered(
    exchangeAuthorization(endpoints.issuer, {
      metadata: endpoints,
      clientInformation: client,
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri: redirect,
      resource,
      fetchFn: oauthFetch(url),
    }),
  );
}

export async function refreshLogin(url: string, { endpoints, client, resource }: OAuthGrant, refreshToken: string): Promise<TokenAnswer> {
  const { refreshAuthorization } = await import('@modelcontextprotocol/sdk/client/auth.js');
  return answered(
    refreshAuthorization(endpoints.issuer, {
      metadata: endpoints,
      clientInformation: client,
      refreshToken,
      resource,
      fetchFn: oauthFetch(url),
    }),
  );
}

async function answered(asking: Promise<unknown>): Promise<TokenAnswer> {
  const tokens = TokenAnswer.safeParse(await asking.catch(rethrowInWords));
  if (!tokens.success) throw new LoginProblem('the authorization server gave no token that can be used');
  return tokens.data;
}

type Discovered = Pick<OAuthGrant, 'resource' | 'scope' | 'endpoints'>;

/** The server's own words on a request without a token come first, then the well-known addresses. */
async function discover(url: string): Promise<Discovered> {
  const auth = await import('@modelcontextprotocol/sdk/client/auth.js');
  const { checkResourceAllowed, resourceUrlFromServerUrl } = await import('@modelcontextprotocol/sdk/shared/auth-utils.js');
  const fetchFn = oauthFetch(url);
  const { resourceMetadataUrl, scope: wanted } = auth.extractWWWAuthenticateParams(await askWithoutToken(url));
  const found = await auth
    .discoverOAuthServerInfo(url, { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) })
    .catch(rethrowInWords);
  const endpoints = Endpoints.safeParse(found.authorizationServerMetadata);
  if (!endpoints.success) throw new LoginProblem('it does not say where to log in: give it an api_key instead');
  checkEndpoints(endpoints.data, found.authorizationServerUrl, url);
  const own = resourceUrlFromServerUrl(url);
  const { resource = own.href, scopes_supported: scopes } = found.resourceMetadata ?? {};
  if (!URL.canParse(resource) || !checkResourceAllowed({ requestedResource: own, configuredResource: resource }))
    throw new LoginProblem('what it says about its login is about another server');
  const scope = wanted ?? scopes?.join(' ');
  return { resource, endpoints: endpoints.data, ...(scope && { scope: scope.slice(0, 2_000) }) };
}

/** As a client that has not logged in: a server that wants a login says where. */
async function askWithoutToken(url: string): Promise<Response> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  try {
    const answer = await oauthFetch(url, { anyStatus: true })(url, { method: 'POST', headers, body });
    await answer.body?.cancel();
    return answer;
  } catch (cause) {
    return rethrowInWords(cause);
  }
}

function checkEndpoints(
  { issuer, code_challenge_methods_supported: methods, authorization_endpoint: page }: OAuthGrant['endpoints'],
  asked: string,
  url: string,
): void {
  if (issuer.replace(/\/$/, '') !== asked.replace(/\/$/, ''))
    throw new LoginProblem('its authorization server names itself otherwise than the address it was found at');
  if (!methods.includes('S256')) throw new LoginProblem('its authorization server does not support PKCE with S256');
  if (!isLoginAddress(page, url)) throw new LoginProblem('the page of its login is at no https address');
}

async function clientFor({ url, client, before, redirect }: LoginRequest, endpoints: OAuthGrant['endpoints']): Promise<OAuthClient> {
  if (client) return client;
  if (before && before.endpoints.issuer === endpoints.issuer && before.redirect === redirect) return before.client;
  if (endpoints.registration_endpoint === undefined) {
    throw new LoginProblem('clients cannot register themselves there: register one by hand, and give its client_id');
  }
  const { registerClient } = await import('@modelcontextprotocol/sdk/client/auth.js');
  const made = await registerClient(endpoints.issuer, {
    metadata: endpoints,
    clientMetadata: {
      client_name: 'Tendon',
      redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    fetchFn: oauthFetch(url),
  }).catch(rethrowInWords);
  return OAuthClient.parse(made);
}

/** The library quotes what it was answered, and Zod what it was given. */
function rethrowInWords(cause: unknown): never {
  if (cause instanceof LoginProblem) throw cause;
  throw new LoginProblem('the authorization server answered with something else than the protocol says', { cause });
}
