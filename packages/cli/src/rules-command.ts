import { SavedRules, type ConfirmationRule } from '@tendon/protocol';
import { askForBody, findServer, readFiledConfig } from '@tendon/server/headless';
import { InvalidArgumentError } from 'commander';
import { EXIT, type AddCommand } from './add-command.ts';
import { withOptions } from './environment-options.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
A rule allows actions, denies them, or makes the agent ask. Without --conversation these are the rules of the settings, for all conversations
or those of a repository. A removed rule no longer applies from the next action on. Works through the server that runs on this home.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

const DEADLINE_MS = 30_000;

interface Options {
  readonly home?: string;
  readonly conversation?: string;
  readonly json?: boolean;
}

export const rulesCommand: AddCommand = (program, end) => {
  const command = program
    .command('rules')
    .helpCommand(false)
    .description('list and remove the saved rules that decide which actions need approval')
    .addHelpText('after', HELP);
  const add = (name: string, description: string, isDefault = false) =>
    command
      .command(name, { isDefault })
      .description(description)
      .option('--conversation <id>', 'the rules that were saved for this conversation alone')
      .option('--json', 'print JSON')
      .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
      .addHelpText('after', HELP);

  add('list', 'the saved rules, numbered (the default)', true).action(async (options: Options) => {
    const rules = (await (await openRules(options)).list()).map(({ rule }) => rule);
    print(options, { rules }, rules.length === 0 ? 'No rules are saved.' : rules.map(lineOf).join('\n'));
    end(EXIT.done);
  });
  add('remove', 'remove a rule')
    .argument('<number>', 'its number in the list', numberOf)
    .action(async (number: number, options: Options) => {
      const saved = await openRules(options);
      const rules = await saved.list();
      const found = rules[number - 1];
      if (!found) throw new Error(`There is no rule ${number}: ${rules.length} are saved.`);
      await saved.remove(found.id);
      print(options, { removed: found.rule }, `Taken back: ${wordsOf(found.rule)}`);
      end(EXIT.done);
    });
};

interface RuleList {
  list(): Promise<SavedRules['rules']>;
  /** That rule alone: what others save or take back meanwhile stays as they have it. */
  remove(id: string): Promise<unknown>;
}

/** What fails is an Error whose message can be shown. */
async function openRules({ home, conversation }: Options): Promise<RuleList> {
  const read = await readFiledConfig(withOptions(process.env, home === undefined ? {} : { home }));
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const server = await findServer(read.config);
  if (!server) throw new Error('No server runs on this home: start tendon serve, and try again.');
  const deadlineMs = DEADLINE_MS;
  const path = conversation === undefined ? '/api/rules' : `/api/conversations/${encodeURIComponent(conversation)}/confirmation/rules`;
  return {
    list: async () => SavedRules.parse(await askForBody(server, 'GET', path, { deadlineMs })).rules,
    remove: (id) => askForBody(server, 'DELETE', `${path}/${id}`, { deadlineMs }),
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
