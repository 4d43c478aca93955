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
A trigger starts a conversation when a webhook is called, at set times, or when somebody mentions the agent.
list and deliveries work without a server; the other commands need the one of this home.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const KINDS = ['webhook', 'schedule', 'github', 'gitlab'] satisfies TriggerKind[];
const MAX_DELIVERIES = 200;
/** Only a server fires them. */
const NOTHING_FIRES = '\nNo server runs on this home, so none fires.';

type Triggers = HomeCommands<TriggersClient>;

export const triggersCommand: AddCommand = (...program) => {
  const commands = addHomeCommands(program, {
    name: 'triggers',
    description: 'list, add, pause, fire and remove triggers, which start conversations by themselves',
    help: HELP,
    open: async (config) => (await import('./triggers/triggers-client.ts')).openTriggersClient(config),
  });
  addLists(commands);
  addAdd(commands);
  addChanges(commands);
};

function addLists({ add, carryOut }: Triggers): void {
  add('list', 'the triggers, and what fires each (the default)').action((options: HomeOptions) =>
    carryOut(options, async (client) => {
      const triggers = await client.list();
      const isIdle = client.url === undefined && triggers.some(({ enabled }) => enabled);
      return { json: { triggers }, text: triggerTable(triggers) + (isIdle ? NOTHING_FIRES : '') };
    }),
  );
  add('deliveries <id>', 'the deliveries of a trigger and their results, newest first')
    .addOption(new Option('--limit <number>', 'how many').argParser(deliveryCount).default(20))
    .action((id: string, { limit, ...options }: HomeOptions & { readonly limit: number }) =>
      carryOut(options, async (client) => {
        const deliveries = await client.deliveries(id, limit);
        return { json: { deliveries }, text: deliveryTable(deliveries) };
      }),
    );
}

function addAdd({ add, carryOut }: Triggers): void {
  add('add', 'add a trigger; its secret is shown once')
    .addArgument(new Argument('<kind>', 'what fires it: a call, the clock, or a mention').choices(KINDS))
    .requiredOption('--name <text>', 'what it is called')
    .option('--prompt <text>', 'what the agent is asked ("-": standard input); {{text}} stands for what was sent')
    .option('--cron <fields>', 'when a schedule fires, e.g. "0 9 * * mon-fri"')
    .option('--time-zone <name>', 'of the schedule, e.g. Europe/Berlin (default UTC)')
    .option('--phrase <word>', 'a comment with this phrase fires it (default @tendon)')
    .option('--no-phrase', 'comments do not fire it')
    .option('--label <name>', 'fires it when a GitHub issue gets this label')
    .option('--allowed-users <names>', 'who may fire it by a mention, e.g. ann,bob', namesOf)
    .option('--without-comment', 'do not post the result where it was mentioned')
    .option('--repository <name>', 'repository of its conversations; for mentions, the only one that fires it')
    .option('--branch <name>', 'of the repository')
    .addOption(new Option('--git-provider <name>', 'where the repository is').choices(['github', 'gitlab', 'bitbucket']))
    .option('--agent <name>', 'the agent that works (default: that of the settings)')
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
  add('remove <id>', 'remove it; its conversations stay').action((id: string, options: HomeOptions) =>
    carryOut(options, async (client) => {
      await client.remove(id);
      return { json: { removed: true }, text: `The trigger ${printable(id)} is removed.` };
    }),
  );
  add('pause <id>', 'stop it from firing until it is resumed').action((id: string, options: HomeOptions) =>
    carryOut(options, async (client) => {
      const trigger = await client.enable(id, false);
      return { json: trigger, text: `${printable(trigger.name)} is paused.` };
    }),
  );
  add('resume <id>', 'let it fire again; missed times are skipped').action((id: string, options: HomeOptions) =>
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
