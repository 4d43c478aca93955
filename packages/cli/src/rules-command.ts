import { ConversationConfirmation, Settings, type ConfirmationRule } from '@tendon/protocol';
import { askForBody, askServer, findServer, readFiledConfig } from '@tendon/server/headless';
import { InvalidArgumentError } from 'commander';
import { EXIT, type AddCommand } from './add-command.ts';
import { withOptions } from './environment-options.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
A rule allows, asks about or denies what it names; without --conversation these are the rules of the settings, for all conversations or
those of a repository. A rule that is taken back counts no more from the next action on. Works through the server that runs on this home.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const DEADLINE_MS = 30_000;
const StoredRules = Settings.pick({ confirmation_rules: true });

interface Options {
  readonly home?: string;
  readonly conversation?: string;
  readonly json?: boolean;
}

export const rulesCommand: AddCommand = (program, end) => {
  const command = program
    .command('rules')
    .helpCommand(false)
    .description('list and take back the saved rules by which actions run without a person')
    .addHelpText('after', HELP);
  const add = (name: string, description: string, isDefault = false) =>
    command
      .command(name, { isDefault })
      .description(description)
      .option('--conversation <id>', 'the rules that were saved for this conversation alone')
      .option('--json', 'print JSON')
      .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
      .addHelpText('after', HELP);

  add('list', 'what rules are saved, numbered (the default)', true).action(async (options: Options) => {
    const rules = await (await openRules(options)).list();
    print(options, { rules }, rules.length === 0 ? 'No rules are saved.' : rules.map(lineOf).join('\n'));
    end(EXIT.done);
  });
  add('remove', 'take a rule back')
    .argument('<number>', 'its number in the list', numberOf)
    .action(async (number: number, options: Options) => {
      const saved = await openRules(options);
      const rules = await saved.list();
      const removed = rules[number - 1];
      if (!removed) throw new Error(`There is no rule ${number}: ${rules.length} are saved.`);
      await saved.replace(rules.filter((rule) => rule !== removed));
      print(options, { removed }, `Taken back: ${wordsOf(removed)}`);
      end(EXIT.done);
    });
};

interface SavedRules {
  list(): Promise<readonly ConfirmationRule[]>;
  replace(rules: readonly ConfirmationRule[]): Promise<unknown>;
}

/** What fails is an Error whose message can be shown. */
async function openRules({ home, conversation }: Options): Promise<SavedRules> {
  const read = await readFiledConfig(withOptions(process.env, home === undefined ? {} : { home }));
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const server = await findServer(read.config);
  if (!server) throw new Error('No server runs on this home: start tendon serve, and try again.');
  const deadlineMs = DEADLINE_MS;
  if (conversation !== undefined) {
    const path = `/api/conversations/${encodeURIComponent(conversation)}/confirmation`;
    return {
      list: async () => ConversationConfirmation.parse(await askForBody(server, 'GET', path, { deadlineMs })).rules,
      replace: (rules) => askForBody(server, 'PUT', path, { body: { rules }, deadlineMs }),
    };
  }
  return {
    async list() {
      const { status } = await askServer(server, 'GET', '/api/settings', { deadlineMs });
      if (status === 404) return []; // no setting was ever stored
      const settings = await askForBody(server, 'GET', '/api/settings', { deadlineMs });
      return StoredRules.parse(settings).confirmation_rules;
    },
    replace: (rules) => askForBody(server, 'POST', '/api/settings', { body: { confirmation_rules: rules }, deadlineMs }),
  };
}

function print({ json }: Options, value: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value, undefined, 2) : text}\n`);
}

function lineOf(rule: ConfirmationRule, index: number): string {
  return `${String(index + 1).padStart(4)}  ${wordsOf(rule)}`;
}

function wordsOf({ decision, tool, command, path, host, repository, git_provider }: ConfirmationRule): string {
  const about = Object.entries({ tool, command, path, host }).flatMap(([name, value]) => (value === undefined ? [] : `${name} ${value}`));
  const where = repository === undefined ? '' : ` (in ${repository}${git_provider === undefined ? '' : ` at ${git_provider}`})`;
  return printable(`${decision.padEnd(5)}  ${about.join(', ')}${where}`);
}

function numberOf(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It is a number of the list.');
  return Number(text);
}
