import { Settings, SettingsUpdate } from '@tendon/protocol';
import type { AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { aligned } from './terminal/aligned.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
What the settings pages change, and what comes before the environment. Keys and tokens are never printed; secrets has its own command.
Works through the server of this home when one runs, else by itself.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Stored extends AsyncDisposable {
  all(): Promise<Readonly<Record<string, unknown>>>;
  /** `null` if it is not stored. Throws if there is no such setting. */
  get(name: string): Promise<unknown>;
  /** The same. */
  set(name: string, value: unknown): Promise<void>;
}

/** For these, the command shows only whether they are set. */
const isKey = (name: string): boolean => /_api_key$|_tokens?$/.test(name);

export const configCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'config',
    description: 'see and change the stored settings',
    help: HELP,
    open: async ({ home }) => openStored(home),
  });
  add('list', 'all of them (the default)').action((options: HomeOptions) =>
    carryOut(options, async (stored) => {
      const settings = await stored.all();
      const rows = Object.entries(settings).map(([name, value]) => [name, printable(JSON.stringify(value))]);
      return { json: settings, text: rows.length === 0 ? 'Nothing is stored: the environment decides.' : aligned(rows) };
    }),
  );
  add('get <name>', 'one of them').action((name: string, options: HomeOptions) =>
    carryOut(options, async (stored) => {
      const value = await stored.get(name);
      return { json: value, text: typeof value === 'string' ? printable(value) : JSON.stringify(value) };
    }),
  );
  add('set <name> <value>', 'change one; a value is JSON, or a text').action((name: string, value: string, options: HomeOptions) =>
    carryOut(options, async (stored) => {
      const parsed = parse(value);
      await stored.set(name, parsed);
      if (isKey(name)) return { json: { [name]: null }, text: `${name} is stored, and not shown.` };
      return { json: { [name]: parsed }, text: `${name} = ${printable(JSON.stringify(parsed))}` };
    }),
  );
};

async function openStored(home: string): Promise<Stored> {
  const { openHomeServer } = await import('./attach/home-server.ts');
  const server = await openHomeServer(home);
  const { settings } = server.rest;
  const all = async () => ({ ...(await settings.get()) }) as Readonly<Record<string, unknown>>;
  return {
    all,
    async get(name) {
      check(name, { ...Settings.shape, ...SettingsUpdate.shape });
      return (await all())[name] ?? null;
    },
    async set(name, value) {
      check(name, SettingsUpdate.shape);
      await settings.patch({ [name]: value });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function check(name: string, settings: object): void {
  if (Object.hasOwn(settings, name)) return;
  throw new Error(`There is no setting ${printable(name)}. There are ${Object.keys(settings).join(', ')}.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
