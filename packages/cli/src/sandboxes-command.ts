import type { AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';

const HELP = `
Works through the server of this home when one runs, else by itself. Workspaces and conversations always stay.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

export const sandboxesCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'sandboxes',
    description: 'list sandboxes, stop one, or remove what was left behind',
    help: HELP,
    open: async (config) => (await import('./sandboxes/sandboxes-client.ts')).openSandboxesClient(config),
  });

  add('list', 'what each uses (the default)').action(async (options: HomeOptions) => {
    const { tableOf } = await import('./sandboxes/sandbox-table.ts');
    await carryOut(options, async (client) => {
      const sandboxes = await client.list();
      return { json: { sandboxes }, text: tableOf(sandboxes) };
    });
  });
  add('stop <conversation>', 'end the sandbox of a conversation, with its private home, and stop its agent').action(
    async (id: string, options: HomeOptions) =>
      carryOut(options, async (client) => {
        await client.stop(id);
        return { json: { stopped: true }, text: `The sandbox of ${id} has ended.` };
      }),
  );
  add('reclaim', 'remove what belongs to no conversation: processes, mounts, groups, sockets, folders')
    .option('--all', 'remove the sandboxes of conversations too, with their private homes, unless a running server uses them')
    .action(async ({ all = false, ...options }: HomeOptions & { all?: boolean }) =>
      carryOut(options, async (client) => {
        const result = await client.reclaim(all);
        return { json: result, text: `${result.reaped} removed, ${result.kept} left alone.` };
      }),
    );
  add('hosts', 'the executor hosts of RUNTIME=remote, and what each has left').action(async (options: HomeOptions) => {
    const { hostTable } = await import('./sandboxes/host-table.ts');
    await carryOut(options, async (client) => {
      const hosts = await client.hosts();
      return { json: { hosts }, text: hostTable(hosts) };
    });
  });
  add('drain <host>', 'stop an executor host from taking new conversations; those it has continue')
    .option('--off', 'let it take new conversations again')
    .action(async (host: string, { off = false, ...options }: HomeOptions & { off?: boolean }) =>
      carryOut(options, async (client) => {
        await client.drain(host, !off);
        return { json: { draining: !off }, text: off ? `${host} takes conversations again.` : `${host} takes no new conversations.` };
      }),
    );
};
