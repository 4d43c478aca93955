import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { SecretList } from '@tendon/protocol';
import { askForBody, findServer, type Config, type FoundServer } from '@tendon/server/headless';
import type { AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
Agents find a secret as an environment variable of its name; nobody can read its value back. The value is typed without being shown, or
read from standard input; it is no argument, because other users of the machine see those. With --host it may go to these hosts alone,
each with all names below it. Works through the server that runs on this home.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const DEADLINE_MS = 30_000;

interface HostOptions extends HomeOptions {
  readonly host?: readonly string[];
}

type Info = SecretList['custom_secrets'][number];

export const secretsCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'secrets',
    description: 'name, bind to hosts and remove what agents may use and nobody may read',
    help: HELP,
    open: openSecrets,
  });

  add('list', 'the names of the secrets, and where each may go (the default)').action((options: HomeOptions) =>
    carryOut(options, async (secrets) => {
      const found = await secrets.list();
      return { json: { secrets: found }, text: found.length === 0 ? 'There are no secrets.' : found.map(lineOf).join('\n') };
    }),
  );
  add('add <name>', 'store one; its value is asked for')
    .option('--host <name>', 'it may go to this host alone (again for each of several)', collect)
    .option('--description <text>', 'what it is for; agents read it')
    .action((name: string, { host, description, ...options }: HostOptions & { readonly description?: string }) =>
      carryOut(options, async (secrets) => {
        await secrets.add({ name, value: await readValue(name), description, hosts: host });
        return { json: { added: name }, text: `Stored: ${name}.` };
      }),
    );
  add('hosts <name>', 'change where one may go; without --host: anywhere')
    .option('--host <name>', 'it may go to this host alone (again for each of several)', collect)
    .action((name: string, { host = [], ...options }: HostOptions) =>
      carryOut(options, async (secrets) => {
        await secrets.bind(name, host);
        return { json: { name, hosts: host }, text: `${name} may go ${placesOf(host)}.` };
      }),
    );
  add('remove <name>', 'remove one; what runs already keeps it until it ends').action((name: string, options: HomeOptions) =>
    carryOut(options, async (secrets) => {
      await secrets.remove(name);
      return { json: { removed: name }, text: `Removed: ${name}.` };
    }),
  );
};

function collect(host: string, before: readonly string[] = []): readonly string[] {
  return [...before, host];
}

interface Secrets extends AsyncDisposable {
  list(): Promise<readonly Info[]>;
  add(secret: {
    readonly name: string;
    readonly value: string;
    readonly description?: string;
    readonly hosts?: readonly string[];
  }): Promise<void>;
  bind(name: string, hosts: readonly string[]): Promise<void>;
  remove(name: string): Promise<void>;
}

async function openSecrets(config: Config): Promise<Secrets> {
  const server = await findServer(config);
  if (!server) throw new Error('No server runs on this home: start tendon serve, and try again.');
  return throughServer(server);
}

function throughServer(server: FoundServer): Secrets {
  const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<unknown> =>
    askForBody(server, method, `/api/secrets${path}`, { body, deadlineMs: DEADLINE_MS });
  const at = (name: string): string => `/${encodeURIComponent(name)}`;
  return {
    list: async () => SecretList.parse(await ask('GET', '')).custom_secrets,
    add: async (secret) => void (await ask('POST', '', secret)),
    bind: async (name, hosts) => void (await ask('PUT', at(name), { name, hosts })),
    remove: async (name) => void (await ask('DELETE', at(name))),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Without the line's end of an `echo`. */
async function readValue(name: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '');
  process.stderr.write(`Value of ${printable(name)} (not shown): `);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('Nothing was stored.')));
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

function lineOf({ name, description, hosts }: Info): string {
  return printable(`${name}  ${placesOf(hosts ?? [])}${description ? `  ${description}` : ''}`);
}

function placesOf(hosts: readonly string[]): string {
  return hosts.length === 0 ? 'anywhere' : `to ${hosts.join(', ')}`;
}
