import type { InstalledHooks } from '@tendon/server/headless';
import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
A hook is a command of yours that runs before and after each action of the agent, before it finishes, when a conversation starts, and
before its history is condensed. It runs on this machine as you, outside every sandbox. Example, in ~/.tendon/hooks.json:
  {"hooks": {"before_action": [{"name": "guard", "match": "run|edit", "command": "./guard.sh", "timeout": 10}]}}
Exit code 2 blocks, and standard error is the reason. A hook with "fail": "block" also blocks when it fails. More: docs/guide.md.
Exit code: 0 done, 1 a file is invalid, 2 wrong usage.`;

export const hooksCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'hooks',
    description: 'list the commands of yours that decide what an agent may do',
    help: HELP,
    open: async ({ home }) => {
      const { installedHooks } = await import('@tendon/server/headless');
      return { read: () => installedHooks(home), [Symbol.asyncDispose]: async () => undefined };
    },
  });

  add('list', 'the hooks that are in effect (the default)').action((options: HomeOptions) =>
    carryOut(options, async ({ read }) => {
      const { hooks, problems } = await read();
      const json = hooks.map(({ env: _env, timeoutMs, blocksOnFailure, ...hook }) => ({
        ...hook,
        timeout: timeoutMs / 1000,
        ...(blocksOnFailure && { fail: 'block' }),
      }));
      const code = problems.length > 0 ? EXIT.failed : EXIT.done;
      return { json: { hooks: json, problems }, text: printable([...problems, describe(hooks)].join('\n')), code };
    }),
  );
};

function describe(hooks: InstalledHooks['hooks']): string {
  if (hooks.length === 0) return 'There are no hooks. tendon hooks --help says how to write one.';
  return hooks
    .map(({ name, moment, match, command, timeoutMs, folder, blocksOnFailure }) =>
      [
        name,
        `${moment}${match === undefined ? '' : `, on ${match}`}: ${command}`,
        `in ${folder}, ${timeoutMs / 1000} s at most${blocksOnFailure ? ', blocks when it fails' : ''}`,
      ].join('\n  '),
    )
    .join('\n');
}
