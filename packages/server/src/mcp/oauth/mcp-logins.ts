/**
 * Owns the logins to MCP servers: one record each, `mcp-logins/<digest of the address>`, sealed whole like the servers' keys.
 *
 * ML1  A token leaves only as `Secret`, to be masked, and in requests to the server it was given for.
 * ML2  A login that is under way is in memory, ends after ten minutes, and its state is taken once.
 * ML3  One refresh at a time for each server, over all that share the storage: a refresh token that was used twice ends the login at many of
 *      them.
 * ML4  A login counts for all who use the server by the settings or the configuration; an address that a key below `admin` named has none.
 */
import { createHash, randomUUID } from 'node:crypto';
import { KeyedMutex, type Clock, type RecordStore } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';
import { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';
import { seal, unseal } from '../../platform/auth/stored-secret.ts';
import { LoginProblem } from './oauth-fetch.ts';
import { finishLogin, OAuthGrant, refreshLogin, startLogin, type LoginRequest, type StartedLogin, type TokenAnswer } from './oauth-flow.ts';

const Login = z.object({
  url: z.string(),
  grant: OAuthGrant,
  /** Absent: it has ended, and its client is stored for the next one. */
  tokens: z.object({ access: z.string(), refresh: z.string().optional(), expiresAt: z.number().optional() }).optional(),
  /** When it was made, in ms: another number for each login. */
  at: z.number(),
  /** A server is renewing its tokens: until then nobody else does. */
  renewal: z.object({ by: z.string(), until: z.number() }).optional(),
});
type Login = z.output<typeof Login>;

/** What the callback brings. */
export interface LoginAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  /** The browser that began it, where one did. */
  readonly browser?: string | undefined;
}

interface PendingLogin extends StartedLogin {
  readonly url: string;
  readonly browser: string | undefined;
  readonly endsAt: number;
}

export const LOGIN_MS = 10 * 60_000;
const MAX_PENDING = 32;
/** An access token is renewed so long before it ends. */
const MARGIN_MS = 30_000;
/** A renewal that takes longer was cut off. */
const RENEWAL_MS = 30_000;
/** Between two looks at what another server renews. */
const LOOK_MS = 100;
const LOGINS = 'mcp-logins';

export interface McpLoginsOptions {
  readonly records: Pick<RecordStore, 'list' | 'put' | 'update' | 'delete' | 'watch'>;
  readonly jwtSecret: Secret;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Called in the tick of each change of what is hidden. */
  readonly onChange: () => void;
}

export class McpLogins {
  readonly #options: McpLoginsOptions;
  /** Identifies this server's refreshes. */
  readonly #self = randomUUID();
  readonly #logins = new Map<string, Login>();
  readonly #pending = new Map<string, PendingLogin>();
  readonly #changing = new KeyedMutex();
  readonly #storing = new Mutex();

  private constructor(options: McpLoginsOptions) {
    this.#options = options;
  }

  static async open(options: McpLoginsOptions): Promise<McpLogins> {
    const logins = new McpLogins(options);
    options.records.watch(LOGINS, () => logins.#read());
    await logins.#read();
    return logins;
  }

  /** As stored now: other servers change them too. */
  #read(): Promise<void> {
    return this.#storing.run(async () => {
      const stored = await this.#options.records.list<string>(LOGINS);
      this.#logins.clear();
      for (const { value } of stored) {
        const login = this.#unsealed(value);
        if (login) this.#logins.set(login.url, login);
      }
      this.#options.onChange();
    });
  }

  #unsealed(sealed: string | undefined): Login | undefined {
    const text = sealed && unseal(sealed, this.#options.jwtSecret);
    return text ? Login.safeParse(JSON.parse(text)).data : undefined;
  }

  /** The addresses of the servers that are logged in to. */
  get urls(): readonly string[] {
    return [...this.#logins.values()].flatMap(({ url, tokens }) => (tokens ? [url] : []));
  }

  get secrets(): readonly Secret[] {
    const texts = [...this.#logins.values()].flatMap(({ tokens, grant }) => [tokens?.access, tokens?.refresh, grant.client.client_secret]);
    return texts.flatMap((text) => (text === undefined ? [] : new Secret(text)));
  }

  /** When the login was made that counts now. */
  madeAt(url: string): Date | undefined {
    const login = this.#logins.get(url);
    return login?.tokens && new Date(login.at);
  }

  /** The address that a person opens. Rejects with a `LoginProblem`. */
  async begin({ url, ...rest }: Omit<LoginRequest, 'before'>, browser: string | undefined): Promise<string> {
    const started = await startLogin({ url, ...rest, before: this.#logins.get(url)?.grant });
    const now = this.#now();
    for (const [state, { endsAt }] of this.#pending) if (endsAt <= now || this.#pending.size >= MAX_PENDING) this.#pending.delete(state);
    this.#pending.set(started.state, { ...started, url, browser, endsAt: now + LOGIN_MS });
    return started.authorizationUrl;
  }

  /** The address of the server that is logged in to now. Rejects with a `LoginProblem`. */
  async finish({ state, code, iss, browser }: LoginAnswer): Promise<string> {
    const pending = this.#pending.get(state);
    if (!pending || pending.endsAt <= this.#now() || pending.browser !== browser) {
      throw new LoginProblem('this login is not under way here, or it took too long: begin it again');
    }
    this.#pending.delete(state);
    if (code === undefined) throw new LoginProblem('it was not permitted there');
    const { url, grant } = pending;
    const answer = await finishLogin(url, pending, { code, iss });
    return this.#changing.run(url, async () => {
      const at = Math.max(this.#now(), (this.#logins.get(url)?.at ?? 0) + 1);
      await this.#put({ url, grant, tokens: this.#tokensOf(answer), at });
      return url;
    });
  }

  /** Its tokens and its client are forgotten; false where there was no login. */
  logOut(url: string): Promise<boolean> {
    return this.#changing.run(url, async () => {
      if (!this.#logins.has(url)) return false;
      await this.#storing.run(async () => {
        await this.#options.records.delete(LOGINS, idOf(url));
        this.#setLogin(url, undefined);
      });
      return true;
    });
  }

  /** `send` with the token of the login to the server at `url`, renewed when it has to be; nothing where there is no login. */
  fetchFor(url: string, send: typeof fetch = fetch): typeof fetch | undefined {
    if (!this.madeAt(url)) return undefined;
    const { origin } = new URL(url);
    return async (input, init) => {
      const isServer = new URL(input instanceof Request ? input.url : input).origin === origin;
      const token = isServer ? await this.#token(url) : undefined;
      if (token === undefined) return send(input, init);
      const answer = await send(input, withToken(init, token));
      if (answer.status !== 401) return answer;
      const fresh = await this.#renewed(url, token);
      if (fresh === undefined) return answer;
      await answer.body?.cancel();
      return send(input, withToken(init, fresh));
    };
  }

  #token(url: string): Promise<string | undefined> | string | undefined {
    const tokens = this.#logins.get(url)?.tokens;
    const isOver = tokens?.expiresAt !== undefined && tokens.expiresAt - MARGIN_MS <= this.#now();
    return tokens && isOver ? this.#renewed(url, tokens.access) : tokens?.access;
  }

  /** Another token than `used`, which was refused or ends; nothing when a person has to log in again. */
  #renewed(url: string, used: string): Promise<string | undefined> {
    return this.#changing.run(url, async () => {
      const { login, isOurs } = await this.#toRenew(url, used);
      if (!login || !isOurs) return login?.tokens?.access;
      const { tokens: before, renewal: _renewal, ...rest } = login;
      const { refresh } = before ?? {};
      const answer = await this.#refreshed(url, login.grant, refresh).catch(async (cause: unknown) => {
        await this.#put(before ? { ...rest, tokens: before } : rest); // others need not wait until its time is over
        throw cause;
      });
      const tokens = answer && this.#tokensOf({ ...answer, refresh_token: answer.refresh_token ?? refresh });
      await this.#put(tokens ? { ...rest, tokens } : rest);
      return tokens?.access;
    });
  }

  async #refreshed(url: string, grant: OAuthGrant, refresh: string | undefined): Promise<TokenAnswer | undefined> {
    return refresh === undefined ? undefined : refreshLogin(url, grant, refresh).catch(unlessRefused);
  }

  /** The login as it is, when this server alone renews its tokens, or when they are no longer those that were used. */
  async #toRenew(url: string, used: string): Promise<{ readonly isOurs: boolean; readonly login: Login | undefined }> {
    const signal = AbortSignal.timeout(2 * RENEWAL_MS);
    for (;;) {
      const login = await this.#markRenewal(url, used);
      const isOurs = login?.renewal?.by === this.#self;
      if (isOurs || login?.tokens?.access !== used) return { isOurs, login };
      await this.#options.clock.sleep(LOOK_MS, { signal });
    }
  }

  /** As it is then. It is marked as renewed by this server, unless another one renews it or has done so. */
  #markRenewal(url: string, used: string): Promise<Login | undefined> {
    const { records, jwtSecret } = this.#options;
    const id = idOf(url);
    return this.#storing.run(async () => {
      const value = await records.update<string>(LOGINS, id, (sealed) => {
        const login = this.#unsealed(sealed);
        const { by, until = 0 } = login?.renewal ?? {};
        if (login?.tokens?.access !== used || (by !== this.#self && until > this.#now())) return undefined;
        const renewal = { by: this.#self, until: this.#now() + RENEWAL_MS };
        return { sort: id, value: seal(JSON.stringify({ ...login, renewal }), jwtSecret) };
      });
      const login = this.#unsealed(value);
      this.#setLogin(url, login);
      return login;
    });
  }

  #setLogin(url: string, login: Login | undefined): void {
    if (login) this.#logins.set(url, login);
    else this.#logins.delete(url);
    this.#options.onChange();
  }

  #tokensOf({ access_token: access, refresh_token: refresh, expires_in: seconds }: TokenAnswer): NonNullable<Login['tokens']> {
    return { access, ...(refresh !== undefined && { refresh }), ...(seconds !== undefined && { expiresAt: this.#now() + seconds * 1000 }) };
  }

  #put(login: Login): Promise<void> {
    const { records, jwtSecret } = this.#options;
    return this.#storing.run(async () => {
      // Hidden before it can be in an answer that is stored.
      this.#setLogin(login.url, login);
      const id = idOf(login.url);
      await records.put(LOGINS, { id, sort: id, value: seal(JSON.stringify(login), jwtSecret) });
    });
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

/** What could not be asked may be asked again later; what was refused is over. */
function unlessRefused(cause: unknown): undefined {
  if (cause instanceof LoginProblem && (cause.status === 400 || cause.status === 401)) return undefined;
  throw cause;
}

function withToken(init: RequestInit | undefined, token: string): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

function idOf(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 32);
}
