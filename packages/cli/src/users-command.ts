import { writeFile } from 'node:fs/promises';
import { ErasureInfo, OrganisationRole, UserList, type UpdateUser, type UserInfo } from '@tendon/protocol';
import { askForBody, findServer, type FoundServer } from '@tendon/server/headless';
import { Argument } from 'commander';
import type { AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeCommands, type HomeOptions, type Report } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
A user is named by their e-mail address, or by the id that list shows. Works through the server that runs on this home, with its own key.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const DEADLINE_MS = 30_000;
/** Long enough for a user with many conversations. */
const ERASURE_MS = 3_600_000;
const NO_USERS = 'Nobody has signed in yet.';

interface Users extends AsyncDisposable {
  list(): Promise<UserList['users']>;
  update(name: string, change: UpdateUser): Promise<UserInfo>;
  /** A zip. */
  exported(name: string): Promise<Uint8Array>;
  erase(name: string): Promise<ErasureInfo>;
}

/** Those who sign in at the identity provider. */
export const usersCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands<Users>(program, {
    name: 'users',
    description: 'list, disable, export and erase users, and give them roles',
    help: HELP,
    open: async (config) => {
      const server = await findServer(config);
      if (!server) throw new Error('No server runs on this home: users are known to servers. Start one with `tendon serve`.');
      return usersOf(server);
    },
  });
  const changed = (user: UserInfo): Report => ({ json: user, text: lineOf(user) });

  add('list', 'who has signed in, and what they may do (the default)').action((options) =>
    carryOut(options, async (users) => {
      const all = await users.list();
      return { json: { users: all }, text: all.length === 0 ? NO_USERS : all.map(lineOf).join('\n') };
    }),
  );
  add('disable <user>', 'end all that they came in by, and let them in no more').action((user: string, options) =>
    carryOut(options, async (users) => changed(await users.update(user, { disabled: true }))),
  );
  add('enable <user>', 'let them sign in again').action((user: string, options) =>
    carryOut(options, async (users) => changed(await users.update(user, { disabled: false }))),
  );
  addDataCommands(add, carryOut);
  add('role', 'what they may do in an organisation')
    .argument('<user>')
    .addArgument(new Argument('<role>').choices(OrganisationRole.options))
    .option('--organisation <id>', 'where they are in several')
    .action((user: string, role: OrganisationRole, { organisation, ...options }: { readonly organisation?: string }) =>
      carryOut(options, async (users) =>
        changed(await users.update(user, { role, ...(organisation !== undefined && { organisation_id: organisation }) })),
      ),
    );
};

function addDataCommands(add: HomeCommands<Users>['add'], carryOut: HomeCommands<Users>['carryOut']): void {
  add('export <user>', 'write all that is theirs into a zip: events, names of keys and secrets, triggers; no values of those')
    .requiredOption('--to <file>', 'the zip, which must not be there yet')
    .action((user: string, { to, ...options }: HomeOptions & { readonly to: string }) =>
      carryOut(options, async (users) => {
        const zip = await users.exported(user);
        await writeFile(to, zip, { flag: 'wx', mode: 0o600 });
        return { json: { file: to, bytes: zip.length }, text: `Wrote ${to}, ${zip.length} bytes.` };
      }),
    );
  add('erase <user>', 'remove all that is theirs for good, and their name from what others have a part in')
    .option('-f, --force', 'nothing is removed without it')
    .action((user: string, { force = false, ...options }: HomeOptions & { readonly force?: boolean }) =>
      carryOut(options, async (users) => {
        if (!force) throw new Error('Nothing can be brought back. Export it first where it is wanted, then say --force.');
        const erased = await users.erase(user);
        const left = erased.is_done
          ? ''
          : ` ${erased.conversations_left} conversations are left, which other servers remove within a minute.`;
        return { json: erased, text: `Erased ${erased.user_id}.${left}` };
      }),
    );
}

function usersOf(server: FoundServer): Users {
  const list = async () => UserList.parse(await askForBody(server, 'GET', '/api/users', { deadlineMs: DEADLINE_MS })).users;
  const idOf = async (name: string): Promise<string> => {
    const found = (await list()).filter(({ id, email }) => id === name || email?.toLowerCase() === name.toLowerCase());
    if (found.length === 1) return found[0]!.id;
    throw new Error(found.length === 0 ? `There is no user ${name}.` : `Several users are called ${name}: name one by id.`);
  };
  return {
    list,
    update: async (name, body) =>
      (await askForBody(server, 'PATCH', `/api/users/${await idOf(name)}`, { body, deadlineMs: DEADLINE_MS })) as UserInfo,
    async exported(name) {
      const answer = await fetch(`${server.url}/api/users/${await idOf(name)}/export`, { headers: { ...server.headers } });
      if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
      return new Uint8Array(await answer.arrayBuffer());
    },
    erase: async (name) =>
      ErasureInfo.parse(await askForBody(server, 'POST', `/api/users/${await idOf(name)}/erase`, { body: {}, deadlineMs: ERASURE_MS })),
    [Symbol.asyncDispose]: async () => {},
  };
}

function lineOf({ id, name, email, disabled, administers_server: administers, organisations }: UserInfo): string {
  const roles = organisations.map((one) => `${one.id}: ${one.role}`);
  const more = [...roles, ...(administers ? ['administers the server'] : []), ...(disabled ? ['disabled'] : [])];
  return `${id}  ${printable(name)}  ${printable(email ?? '-')}  (${more.join(', ')})`;
}
