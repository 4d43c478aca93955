import type { Config } from '@tendon/server/headless';
import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';
import type { SandboxesClient } from './sandboxes/sandboxes-client.ts';

const HELP = `
Works through the server of this home when one runs, else by itself. Workspaces and conversations always stay.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Options {
  readonly home?: string;
  readonly json?: boolean;
}

type Work = (client: SandboxesClient) => Promise<{ readonly json: unknown; readonly text: string }>;

export const sandboxesCommand: AddCommand = (program, end) => {
  const command = program.command('sandboxes').helpCommand(false).description('list sandboxes, stop one, or remove what was left behind');
  const add = (name: string, description: string) =>
    command
      .command(name, { isDefault: name === 'list' })
      .description(description)
      .option('--json', 'print JSON')
      .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
      .addHelpText('after', HELP);

  add('list', 'what each uses (the default)').action(async (options: Options) => {
    const { tableOf } = await import('./sandboxes/sandbox-table.ts');
    await carryOut(options, async (client) => {
      const sandboxes = await client.list();
      return { json: { sandboxes }, text: tableOf(sandboxes) };
    });
  });
  add('stop <conversation>', 'end the sandbox of a conversation, with its private home, and stop its agent').action(
    async (id: string, options: Options) =>
      carryOut(options, async (client) => {
        await client.stop(id);
        return { json: { stopped: true }, text: `The sandbox of ${id} has ended.` };
      }),
  );
  add('reclaim', 'end and remove what belongs to no conversation: processes, mounts, groups, sockets, folders')
    .option('--all', 'also the sandboxes of conversations, with their private homes, unless a running server has them in use')
    .action(async ({ all = false, ...options }: Options & { all?: boolean }) =>
      carryOut(options, async (client) => {
        const result = await client.reclaim(all);
        return { json: result, text: `${result.reaped} removed, ${result.kept} left alone.` };
      }),
    );
  command.addHelpText('after', HELP);

  async function carryOut({ home, json = false }: Options, work: Work): Promise<void> {
    const config = await configOf(home);
    if (config === undefined) return end(EXIT.usage);
    const { openSandboxesClient } = await import('./sandboxes/sandboxes-client.ts');
    await using client = await openSandboxesClient(config);
    const { json: value, text } = await work(client);
    process.stdout.write(`${json ? JSON.stringify(value, undefined, 2) : text}\n`);
    end(EXIT.done);
  }
};

async function configOf(home: string | undefined): Promise<Config | undefined> {
  const { readFiledConfig } = await import('@tendon/server/headless');
  const read = await readFiledConfig(withOptions(process.env, home === undefined ? {} : { home }));
  if (read.ok) return read.config;
  process.stderr.write(`${read.problems.join('\n')}\n`);
  return undefined;
}
