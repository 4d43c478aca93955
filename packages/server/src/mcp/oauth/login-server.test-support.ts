/** An MCP server that asks for a login, and the authorization server that gives it: strict about what clients like to forget. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';

interface Code {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
}

export interface LoginServerOptions {
  /** Clients can register themselves; else there is one, `by-hand`. */
  readonly registers?: boolean;
  /** What is otherwise in the metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Of an access token, in seconds. */
  readonly expiresIn?: number;
}

export class LoginServer {
  url = '';
  readonly options: LoginServerOptions;
  /** Access tokens that count now. */
  readonly access = new Set<string>();
  /** Refresh tokens by whether they can still be used. */
  readonly refresh = new Map<string, boolean>();
  readonly clients = new Map<string, readonly string[]>([['by-hand', []]]);
  /** All that was refused by the authorization server, and why. */
  readonly refusals: string[] = [];
  refreshes = 0;
  readonly #codes = new Map<string, Code>();

  constructor(options: LoginServerOptions) {
    this.options = options;
  }

  get mcp(): string {
    return `${this.url}/mcp`;
  }

  get tokens(): readonly string[] {
    return [...this.access, ...this.refresh.keys()];
  }

  /** As a browser whose user permits it: the address that it is led back to. */
  async permit(authorizationUrl: string): Promise<string> {
    const answer = await fetch(authorizationUrl, { redirect: 'manual' });
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`no way back: ${await answer.text()}`);
    return location;
  }

  answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> | unknown {
    const url = new URL(request.url!, this.url);
    switch (url.pathname) {
      case '/mcp':
        return this.#mcp(request, response);
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, 200, { resource: this.mcp, authorization_servers: [this.url], scopes_supported: ['clocks'] });
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, this.#metadata());
      case '/register':
        return this.#register(request, response);
      case '/authorize':
        return this.#authorize(url.searchParams, response);
      case '/token':
        return this.#token(request, response);
      default:
        return response.writeHead(404).end();
    }
  }

  #metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      ...((this.options.registers ?? true) && { registration_endpoint: `${this.url}/register` }),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      ...this.options.metadata,
    };
  }

  async #register(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { redirect_uris: redirects, ...rest } = JSON.parse(await text(request)) as { redirect_uris: string[] };
    const client = `client-${randomUUID()}`;
    this.clients.set(client, redirects);
    return json(response, 201, { client_id: client, redirect_uris: redirects, ...rest });
  }

  #authorize(given: URLSearchParams, response: ServerResponse): unknown {
    const [client, redirect, challenge, state] = ['client_id', 'redirect_uri', 'code_challenge', 'state'].map(
      (name) => given.get(name) ?? '',
    );
    const redirects = this.clients.get(client!);
    if (client !== 'by-hand' && !redirects?.includes(redirect!)) return this.#refuse(response, 'another redirect_uri than was registered');
    if (given.get('response_type') !== 'code') return this.#refuse(response, 'no code is asked for');
    if (given.get('code_challenge_method') !== 'S256' || challenge!.length !== 43) return this.#refuse(response, 'no PKCE');
    if (state!.length < 20) return this.#refuse(response, 'no state');
    if (given.get('resource') !== this.mcp) return this.#refuse(response, 'another resource');
    const code = randomUUID();
    this.#codes.set(code, { client: client!, redirect: redirect!, challenge: challenge! });
    const back = new URL(redirect!);
    for (const [name, value] of Object.entries({ code, state: state!, iss: this.url })) back.searchParams.set(name, value);
    return response.writeHead(302, { location: back.href }).end();
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const given = new URLSearchParams(await text(request));
    if (given.get('resource') !== this.mcp) return this.#refuse(response, 'another resource');
    if (given.get('grant_type') === 'refresh_token') return this.#refreshed(given.get('refresh_token') ?? '', response);
    const code = this.#codes.get(given.get('code') ?? '');
    this.#codes.delete(given.get('code') ?? '');
    if (!code) return this.#refuse(response, 'no such code, or it was used before');
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url');
    if (challenge !== code.challenge) return this.#refuse(response, 'another verifier');
    if (given.get('client_id') !== code.client) return this.#refuse(response, 'another client');
    if (given.get('redirect_uri') !== code.redirect) return this.#refuse(response, 'another redirect_uri');
    return this.#grant(response);
  }

  #refreshed(token: string, response: ServerResponse): unknown {
    this.refreshes += 1;
    if (this.refresh.get(token) !== true) {
      // A client that uses one twice may have stolen it.
      this.access.clear();
      this.refresh.clear();
      return this.#refuse(response, 'a refresh token that was used before');
    }
    this.refresh.set(token, false);
    return this.#grant(response);
  }

  #grant(response: ServerResponse): unknown {
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    this.access.add(access);
    this.refresh.set(refresh, true);
    const expires = this.options.expiresIn === undefined ? {} : { expires_in: this.options.expiresIn };
    return json(response, 200, { access_token: access, refresh_token: refresh, token_type: 'Bearer', ...expires });
  }

  #refuse(response: ServerResponse, why: string): unknown {
    this.refusals.push(why);
    return json(response, 400, { error: 'invalid_grant', error_description: `INTERNAL ${why}` });
  }

  async #mcp(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined || !this.access.has(token)) {
      const metadata = `${this.url}/.well-known/oauth-protected-resource/mcp`;
      return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end('INTERNAL no token');
    }
    const server = new McpServer({ name: 'clocks', version: '1.0.0' });
    server.registerTool('now', { description: 'The time.' }, () => ({ content: [{ type: 'text', text: 'noon' }] }));
    const transport = new StreamableHTTPServerTransport({});
    await server.connect(transport as Transport);
    return transport.handleRequest(request, response);
  }
}

export async function loginServer(options: LoginServerOptions = {}): Promise<LoginServer> {
  const server = new LoginServer(options);
  const http = createServer((request, response) => void server.answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return server;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
