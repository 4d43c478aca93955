import { setTimeout } from 'node:timers/promises';
import { BegunMcpLogin, McpLoginList, type McpLogin } from '@tendon/protocol';
import { askForBody, findServer, type Config, type FoundServer } from '@tendon/server/headless';
import type { AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
You log in with OAuth in a browser; the agents of this home then use the MCP server as you. MCP servers with an api_key need no login.
If clients cannot register themselves there, pass the client that you registered with --client-id (one with a secret: POST /api/mcp/logins).
The server of this home must run, because the browser is redirected to it.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const DEADLINE_MS = 90_000;
const POLL_MS = 1_000;

interface LoginOptions extends HomeOptions {
  readonly clientId?: string;
}

export const mcpCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'mcp',
    description: 'log in to MCP servers, and list them',
    help: HELP,
    open: openLoginClient,
  });

  add('list', 'MCP servers with an address, and how this home authenticates there (the default)').action((options: HomeOptions) =>
    carryOut(options, async (client) => {
      const servers = await client.list();
      return {
        json: { servers },
        text: servers.length === 0 ? 'There are no MCP servers with an address.' : servers.map(lineOf).join('\n'),
      };
    }),
  );
  add('login <server>', 'log in to a server, by its name or address, in a browser')
    .option('--client-id <id>', 'the client that was registered there by hand')
    .action((server: string, { clientId, ...options }: LoginOptions) =>
      carryOut(options, async (client) => {
        const loggedIn = await client.logIn(server, clientId);
        return { json: loggedIn, text: `Logged in to ${printable(loggedIn.name ?? loggedIn.url)}.` };
      }),
    );
  add('logout <server>', 'forget the login to a server').action((server: string, options: HomeOptions) =>
    carryOut(options, async (client) => {
      await client.logOut(server);
      return { json: { logged_out: true }, text: `Logged out of ${printable(server)}.` };
    }),
  );
};

class LoginClient implements AsyncDisposable {
  readonly #server: FoundServer;

  constructor(server: FoundServer) {
    this.#server = server;
  }

  async list(): Promise<readonly McpLogin[]> {
    return McpLoginList.parse(await this.#ask('GET', '')).servers;
  }

  /** Prints the address to open, and resolves when the login is complete. */
  async logIn(server: string, clientId: string | undefined): Promise<McpLogin> {
    const before = await this.#find(server);
    const client = clientId === undefined ? {} : { client_id: clientId };
    const begun = BegunMcpLogin.parse(await this.#ask('POST', '', { server, ...client }));
    process.stderr.write(`Open this address in a browser and permit it there:\n${begun.authorization_url}\n`);
    for (let waited = 0; waited < begun.expires_in * 1000; waited += POLL_MS) {
      const found = await this.#find(server);
      if (found?.logged_in_at && found.logged_in_at !== before?.logged_in_at) return found;
      await setTimeout(POLL_MS);
    }
    throw new Error('Nobody permitted it in time. Run it again.');
  }

  async logOut(server: string): Promise<void> {
    await this.#ask('DELETE', `?server=${encodeURIComponent(server)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #find(server: string): Promise<McpLogin | undefined> {
    const servers = await this.list();
    return servers.find(({ name }) => name === server) ?? servers.find(({ url }) => url === server);
  }

  #ask(method: 'GET' | 'POST' | 'DELETE', rest: string, body?: object): Promise<unknown> {
    return askForBody(this.#server, method, `/api/mcp/logins${rest}`, { body, deadlineMs: DEADLINE_MS });
  }
}

async function openLoginClient(config: Config): Promise<LoginClient> {
  const server = await findServer(config);
  if (!server) throw new Error('No server runs on this home, and a browser could not be led back: start it with "tendon serve".');
  return new LoginClient(server);
}

const STATES = { key: 'api_key', logged_in: 'logged in', logged_out: 'not logged in' } as const;

function lineOf({ name, url, state, logged_in_at: at }: McpLogin): string {
  return `${printable(name ?? '(not named any more)')}  ${printable(url)}  ${STATES[state]}${at === null ? '' : ` since ${at}`}`;
}
