/**
 * Signs people in at the identity provider: authorization code with PKCE, by OpenID Connect. It owns what it has read of the provider, and
 * nothing of a login: that is sealed into a cookie, so that any server over the same secret completes what another one began.
 *
 * OL1  A login is completed once, by the browser that began it, within `LOGIN_MS`: state, nonce and verifier are in its cookie alone.
 * OL2  Every ID token's signature is checked by keys that were fetched for this login, so that a rotation needs no restart.
 * OL3  Without the provider nobody new comes in, and who is in stays.
 */
import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import * as oidc from 'openid-client';
import { z } from 'zod';
import { seal, unseal } from '../platform/auth/stored-secret.ts';
import type { Identity } from '../platform/auth/user-directory.ts';
import type { OidcConfig } from '../platform/config/users-config.ts';

export interface OidcLoginOptions {
  readonly config: OidcConfig;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
}

/** `down`: the provider does not answer. `refused`: it let nobody in, in its own words. `invalid`: what it answered counts for nothing. */
export type LoginProblem = 'down' | 'state' | 'refused' | 'invalid';
export type LoginResult =
  | { readonly ok: true; readonly identity: Identity; readonly next: string }
  | { readonly ok: false; readonly why: LoginProblem; readonly detail: string; readonly next: string };

/** How long a person may take at the provider. */
const LOGIN_MS = 10 * 60_000;
/** What the provider says of itself is read anew after so long. */
const METADATA_MS = 10 * 60_000;
const TIMEOUT_SECONDS = 10;
/** The provider's clock may differ from ours by so much. */
const TOLERANCE_SECONDS = 60;
const MAX_GROUPS = 500;

const Begun = z.object({
  purpose: z.literal('oidc login'),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  redirect: z.string(),
  until: z.number(),
});

export class OidcLogin {
  readonly #options: OidcLoginOptions;
  #metadata: { readonly of: Promise<oidc.ServerMetadata>; readonly until: number } | undefined;

  constructor(options: OidcLoginOptions) {
    this.#options = options;
  }

  /** Where the browser goes, and what it keeps until it is back. Rejects when the provider does not answer. */
  async begin(redirect: string, next: string): Promise<{ readonly url: string; readonly sealed: string }> {
    const { config, jwtSecret, clock } = this.#options;
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const url = oidc.buildAuthorizationUrl(await this.#provider(), {
      redirect_uri: redirect,
      scope: config.scopes,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const until = clock.now().getTime() + LOGIN_MS;
    const begun: z.output<typeof Begun> = { purpose: 'oidc login', state, nonce, verifier, next, redirect, until };
    return { url: url.href, sealed: seal(JSON.stringify(begun), jwtSecret) };
  }

  /** `query`: what the provider sent the browser back with. Never rejects. */
  async complete(query: string, sealed: string | undefined): Promise<LoginResult> {
    const begun = this.#unsealed(sealed);
    if (!begun) return { ok: false, why: 'state', detail: 'no login was begun in this browser, or too long ago', next: '/' };
    const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier, next } = begun;
    try {
      const provider = await this.#provider();
      const url = new URL(begun.redirect);
      url.search = query;
      if (url.searchParams.get('state') !== expectedState)
        return { ok: false, why: 'state', detail: 'another login was begun since', next };
      const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
      const tokens = await oidc.authorizationCodeGrant(provider, url, checks);
      return { ok: true, identity: await this.#identityOf(provider, tokens), next };
    } catch (cause) {
      return { ok: false, ...problemOf(cause), next };
    }
  }

  /** Where a browser ends the session at the provider too; `undefined`: nowhere, or it does not answer. */
  async logoutUrl(back: string): Promise<string | undefined> {
    const provider = await this.#provider().catch(() => undefined);
    if (!provider?.serverMetadata().end_session_endpoint) return undefined;
    return oidc.buildEndSessionUrl(provider, { post_logout_redirect_uri: back }).href;
  }

  #unsealed(sealed: string | undefined): z.output<typeof Begun> | undefined {
    const text = sealed === undefined ? undefined : unseal(sealed, this.#options.jwtSecret);
    const begun = text === undefined ? undefined : Begun.safeParse(parsed(text)).data;
    return begun && begun.until > this.#options.clock.now().getTime() ? begun : undefined;
  }

  /** Made anew for each login: it holds no keys of an earlier one (OL2). */
  async #provider(): Promise<oidc.Configuration> {
    const { clientId, clientSecret } = this.#options.config;
    const metadata = await this.#discovered();
    const secret = clientSecret?.reveal();
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const auth =
      secret === undefined
        ? oidc.None()
        : methods.includes('client_secret_basic')
          ? oidc.ClientSecretBasic(secret)
          : oidc.ClientSecretPost(secret);
    const provider = new oidc.Configuration(metadata, clientId, { [oidc.clockTolerance]: TOLERANCE_SECONDS }, auth);
    provider.timeout = TIMEOUT_SECONDS;
    oidc.enableNonRepudiationChecks(provider);
    // Only an issuer on this machine may be configured so.
    if (this.#options.config.issuer.protocol === 'http:') oidc.allowInsecureRequests(provider);
    return provider;
  }

  /** Those who come at once share the question; a failure is asked again by the next. */
  #discovered(): Promise<oidc.ServerMetadata> {
    const now = this.#options.clock.now().getTime();
    if (this.#metadata && this.#metadata.until > now) return this.#metadata.of;
    const { issuer, clientId } = this.#options.config;
    const execute = issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
    const of = oidc
      .discovery(issuer, clientId, undefined, undefined, { execute, timeout: TIMEOUT_SECONDS })
      .then((found) => found.serverMetadata());
    const reading = { of, until: now + METADATA_MS };
    this.#metadata = reading;
    of.catch(() => {
      if (this.#metadata === reading) this.#metadata = undefined;
    });
    return of;
  }

  async #identityOf(
    provider: oidc.Configuration,
    tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
  ): Promise<Identity> {
    const { groupsClaim } = this.#options.config.rules;
    const own = tokens.claims()!;
    const isWhole = own.email !== undefined && own[groupsClaim] !== undefined && own.name !== undefined;
    const more =
      isWhole || !provider.serverMetadata().userinfo_endpoint ? {} : await oidc.fetchUserInfo(provider, tokens.access_token, own.sub);
    const claims: Readonly<Record<string, unknown>> = { ...more, ...own };
    const { email, email_verified: verified, name, preferred_username: userName } = claims;
    const shown = [name, userName, email].find((one): one is string => typeof one === 'string' && one.trim() !== '');
    return {
      issuer: own.iss,
      subject: own.sub,
      name: plain(shown ?? own.sub),
      email: typeof email === 'string' ? email.slice(0, 320) : undefined,
      isEmailVerified: verified === true,
      groups: groupsIn(claims[groupsClaim]),
    };
  }
}

function groupsIn(claim: unknown): readonly string[] {
  const all = Array.isArray(claim) ? claim : [claim];
  return all.filter((one): one is string => typeof one === 'string').slice(0, MAX_GROUPS);
}

/** One short line: it stands in cards, logs and terminals. */
function plain(name: string): string {
  return name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 100)
    .toWellFormed();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOf(cause: unknown): { readonly why: LoginProblem; readonly detail: string } {
  const detail = chain(cause).slice(0, 500);
  if (cause instanceof oidc.AuthorizationResponseError) return { why: 'refused', detail: cause.error_description ?? cause.error };
  // A code that was used, or that is too old.
  if (cause instanceof oidc.ResponseBodyError) return { why: cause.error === 'invalid_grant' ? 'state' : 'invalid', detail };
  const isNoAnswer =
    cause instanceof TypeError || (cause instanceof Error && /TIMEOUT|RESPONSE_IS_NOT/.test(String((cause as { code?: unknown }).code)));
  return { why: isNoAnswer ? 'down' : 'invalid', detail };
}

function chain(cause: unknown): string {
  const words = cause instanceof Error ? cause.message : String(cause);
  return cause instanceof Error && cause.cause !== undefined && cause.cause !== cause ? `${words}: ${chain(cause.cause)}` : words;
}
