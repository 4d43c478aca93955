import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { OwnerQuery, SecretList } from '@tendon/protocol';
import { askForBody, findServer, type Config, type FoundServer } from '@tendon/server/headless';
import { Option } from 'commander';
import type { AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
Agents get a secret as an environment variable of its name; nobody can read its value back. You type the value without it being shown, or
pass it on standard input; it is not an argument, because other users of the machine can see those. With --host it may only go to these hosts
and their subdomains. Works through the server that runs on this home, with the key of SESSION_API_KEY or else the server's own.
Where the server has users, --owner says whose conversations use it: own (those that you begin, the default with a key of yours),
organisation (everybody's in the one of your key) or server (everybody's, the default with the server's own key). A key of yours needs the
scope admin; in the web app everybody has their own secrets.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const DEADLINE_MS = 30_000;

type Owner = OwnerQuery['owner'];

interface SecretOptions extends HomeOptions {
  readonly owner?: Owner;
}

interface HostOptions extends SecretOptions {
  readonly host?: readonly string[];
}

type Info = SecretList['custom_secrets'][number];

export const secretsCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'secrets',
    description: 'manage the secrets that agents may use and nobody may read',
    help: HELP,
    open: openSecrets,
  });
  const addOwned: typeof add = (name, description) =>
    add(name, description).addOption(new Option('--owner <owner>', 'whose it is').choices(OwnerQuery.shape.owner.unwrap().options));

  addOwned('list', 'the names of the secrets, and where each may go (the default)').action(({ owner, ...options }: SecretOptions) =>
    carryOut(options, async (secrets) => {
      const found = await secrets.list(owner);
      return { json: { owner, secrets: found }, text: found.length === 0 ? 'There are no secrets.' : found.map(lineOf).join('\n') };
    }),
  );
  addOwned('add <name>', 'store one; its value is asked for')
    .option('--host <name>', 'it may go to this host alone (again for each of several)', collect)
    .option('--description <text>', 'what it is for; agents read it')
    .action((name: string, { owner, host, description, ...options }: HostOptions & { readonly description?: string }) =>
      carryOut(options, async (secrets) => {
        await secrets.add({ name, value: await readValue(name), description, hosts: host }, owner);
        return { json: { owner, added: name }, text: `Stored: ${name}.` };
      }),
    );
  addOwned('hosts <name>', 'change where one may go; without --host: anywhere')
    .option('--host <name>', 'it may go to this host alone (again for each of several)', collect)
    .action((name: string, { owner, host = [], ...options }: HostOptions) =>
      carryOut(options, async (secrets) => {
        await secrets.bind(name, host, owner);
        return { json: { owner, name, hosts: host }, text: `${name} may go ${placesOf(host)}.` };
      }),
    );
  addOwned('remove <name>', 'remove one; programs that already run have it until they end').action(
    (name: string, { owner, ...options }: SecretOptions) =>
      carryOut(options, async (secrets) => {
        await secrets.remove(name, owner);
        return { json: { owner, removed: name }, text: `Removed: ${name}.` };
      }),
  );
};

function collect(host: string, before: readonly string[] = []): readonly string[] {
  return [...before, host];
}

interface NewSecret {
  readonly name: string;
  readonly value: string;
  readonly description?: string;
  readonly hosts?: readonly string[];
}

interface Secrets extends AsyncDisposable {
  list(owner: Owner): Promise<readonly Info[]>;
  add(secret: NewSecret, owner: Owner): Promise<void>;
  bind(name: string, hosts: readonly string[], owner: Owner): Promise<void>;
  remove(name: string, owner: Owner): Promise<void>;
}

async function openSecrets(config: Config): Promise<Secrets> {
  const server = await findServer(config);
  if (!server) throw new Error('No server runs on this home: start tendon serve, and try again.');
  return throughServer(server);
}

function throughServer(server: FoundServer): Secrets {
  const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', owner: Owner, path: string, body?: object): Promise<unknown> =>
    askForBody(server, method, `/api/secrets${path}${owner ? `?owner=${owner}` : ''}`, { body, deadlineMs: DEADLINE_MS });
  const at = (name: string): string => `/${encodeURIComponent(name)}`;
  return {
    list: async (owner) => SecretList.parse(await ask('GET', owner, '')).custom_secrets,
    add: async (secret, owner) => void (await ask('POST', owner, '', secret)),
    bind: async (name, hosts, owner) => void (await ask('PUT', owner, at(name), { name, hosts })),
    remove: async (name, owner) => void (await ask('DELETE', owner, at(name))),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Without the line end that `echo` adds. */
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
