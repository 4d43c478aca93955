import { text } from 'node:stream/consumers';
import type { TriggerKind } from '@tendon/protocol';
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import type { AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';
import { deliveryTable, describeAdded, triggerTable } from './triggers/describe-trigger.ts';
import { misuseOf, postToOf, triggerParams, type AddOptions } from './triggers/trigger-params.ts';
import type { TriggersClient } from './triggers/triggers-client.ts';

const HELP = `
A trigger starts a conversation when something happens: a webhook is called, a time comes, somebody mentions the agent.
Lists work without a server; the others go through the server that runs on this home.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const KINDS = ['webhook', 'schedule', 'github', 'gitlab'] satisfies TriggerKind[];
const MAX_DELIVERIES = 200;
/** Only a server fires them. */
const NOTHING_FIRES = '\nNo server runs on this home, so none fires.';

type Triggers = HomeCommands<TriggersClient>;

export const triggersCommand: AddCommand = (...program) => {
  const commands = addHomeCommands(program, {
    name: 'triggers',
    description: 'list what starts conversations by itself, and add, pause, fire or remove it',
    help: HELP,
    open: async (config) => (await import('./triggers/triggers-client.ts')).openTriggersClient(config),
  });
  addLists(commands);
  addAdd(commands);
  addChanges(commands);
};

function addLists({ add, carryOut }: Triggers): void {
  add('list', 'what triggers there are, and what fires each (the default)').action((options: HomeOptions) =>
    carryOut(options, async (client) => {
      const triggers = await client.list();
      const isIdle = client.url === undefined && triggers.some(({ enabled }) => enabled);
      return { json: { triggers }, text: triggerTable(triggers) + (isIdle ? NOTHING_FIRES : '') };
    }),
  );
  add('deliveries <id>', 'what became of each time that it fired, newest first')
    .addOption(new Option('--limit <number>', 'how many').argParser(deliveryCount).default(20))
    .action((id: string, { limit, ...options }: HomeOptions & { readonly limit: number }) =>
      carryOut(options, async (client) => {
        const deliveries = await client.deliveries(id, limit);
        return { json: { deliveries }, text: deliveryTable(deliveries) };
      }),
    );
}

function addAdd({ add, carryOut }: Triggers): void {
  add('add', 'make one; the secret of its address is shown once')
    .addArgument(new Argument('<kind>', 'what fires it: a call, the clock, or a mention').choices(KINDS))
    .requiredOption('--name <text>', 'what it is called')
    .option('--prompt <text>', 'what the agent is asked ("-": standard input); {{text}} stands for what was sent')
    .option('--cron <fields>', 'when a schedule fires, e.g. "0 9 * * mon-fri"')
    .option('--time-zone <name>', 'of the schedule, e.g. Europe/Berlin (default UTC)')
    .option('--phrase <word>', 'in a comment fires it (default @tendon)')
    .option('--no-phrase', 'comments do not fire it')
    .option('--label <name>', 'an issue of GitHub that gets it fires it')
    .option('--allowed-users <names>', 'who may fire it by a mention, e.g. ann,bob', namesOf)
    .option('--without-comment', 'do not post the result where it was mentioned')
    .option('--repository <name>', 'of its conversations; of a mention the only one that fires it')
    .option('--branch <name>', 'of the repository')
    .addOption(new Option('--git-provider <name>', 'where the repository is').choices(['github', 'gitlab', 'bitbucket']))
    .option('--agent <name>', 'who works (default: the agent of the settings)')
    .option('--max-per-hour <number>', 'how often it fires at most (default 30)', timesOf)
    .option('--post-to <issue>', 'where the result of a call or a schedule is posted, e.g. github:ann/tools#9', postToOf)
    .action(async (kind: TriggerKind, options: HomeOptions & AddOptions, command: Command) => {
      const misuse = misuseOf(kind, options);
      if (misuse !== undefined) command.error(misuse);
      const prompt = options.prompt === undefined ? {} : { prompt: await textOf(options.prompt) };
      await carryOut(options, async (client) => {
        const added = await client.add(triggerParams(kind, { ...options, ...prompt }));
        return { json: added, text: describeAdded(added, client.url ?? '') };
      });
    });
}

function addChanges({ add, carryOut }: Triggers): void {
  add('remove <id>', 'end it; its conversations stay').action((id: string, options: HomeOptions) =>
    carryOut(options, async (client) => {
      await client.remove(id);
      return { json: { removed: true }, text: `The trigger ${printable(id)} is removed.` };
    }),
  );
  add('pause <id>', 'it does not fire until it is resumed').action((id: string, options: HomeOptions) =>
    carryOut(options, async (client) => {
      const trigger = await client.enable(id, false);
      return { json: trigger, text: `${printable(trigger.name)} is paused.` };
    }),
  );
  add('resume <id>', 'it fires again; what was missed is not made up for').action((id: string, options: HomeOptions) =>
    carryOut(options, async (client) => {
      const trigger = await client.enable(id, true);
      const next = trigger.next_at === null ? '' : `, next at ${trigger.next_at}`;
      return { json: trigger, text: `${printable(trigger.name)} fires again${next}.` };
    }),
  );
  add('fire <id> [text...]', 'fire it by hand, also one that is paused, with this text ("-": standard input)').action(
    async (id: string, words: readonly string[], options: HomeOptions) => {
      const sent = await textOf(words.join(' '));
      await carryOut(options, async (client) => {
        const fired = await client.fire(id, sent);
        return { json: fired, text: `It has fired: "tendon triggers deliveries ${printable(id)}" shows what becomes of it.` };
      });
    },
  );
}

async function textOf(given: string): Promise<string> {
  return given === '-' ? text(process.stdin) : given;
}

function namesOf(given: string): readonly string[] {
  return given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function timesOf(given: string): number {
  if (!/^[1-9]\d{0,5}$/.test(given)) throw new InvalidArgumentError('A whole number from 1 on is expected.');
  return Number(given);
}

function deliveryCount(given: string): number {
  const count = timesOf(given);
  if (count > MAX_DELIVERIES) throw new InvalidArgumentError(`At most ${MAX_DELIVERIES} are shown.`);
  return count;
}
