import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { aligned } from './terminal/aligned.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
What the settings pages change, and what comes before the environment. Keys and tokens are never printed; secrets has its own command.
Works through the server of this home when one runs, else by itself.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Stored extends AsyncDisposable {
  get(): Promise<Readonly<Record<string, unknown>>>;
  set(name: string, value: unknown): Promise<void>;
}

export const configCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'config',
    description: 'see and change the stored settings',
    help: HELP,
    open: async ({ home }) => openStored(home),
  });
  add('list', 'all of them (the default)').action((options: HomeOptions) =>
    carryOut(options, async (stored) => {
      const settings = await stored.get();
      const rows = Object.entries(settings).map(([name, value]) => [name, printable(JSON.stringify(value))]);
      return { json: settings, text: rows.length === 0 ? 'Nothing is stored: the environment decides.' : aligned(rows) };
    }),
  );
  add('get <name>', 'one of them').action((name: string, options: HomeOptions) =>
    carryOut(options, async (stored) => {
      const value = (await stored.get())[name];
      const text = typeof value === 'string' ? printable(value) : JSON.stringify(value ?? null);
      return { json: value ?? null, text, code: value === undefined ? EXIT.failed : EXIT.done };
    }),
  );
  add('set <name> <value>', 'change one; a value is JSON, or a text').action((name: string, value: string, options: HomeOptions) =>
    carryOut(options, async (stored) => {
      const parsed = parse(value);
      await stored.set(name, parsed);
      return { json: { [name]: parsed }, text: `${printable(name)} = ${printable(JSON.stringify(parsed))}` };
    }),
  );
};

async function openStored(home: string): Promise<Stored> {
  const { openHomeServer } = await import('./attach/home-server.ts');
  const server = await openHomeServer(home);
  const { settings } = server.rest;
  return {
    get: async () => ({ ...(await settings.get()) }),
    async set(name, value) {
      const known = (await settings.get()) as Readonly<Record<string, unknown>> | null;
      if (known && !(name in known) && !CHANGED_BLIND.includes(name))
        throw new Error(`There is no setting ${name}: tendon config lists them.`);
      await settings.patch({ [name]: value });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** They can be set and not seen. */
const CHANGED_BLIND: readonly string[] = ['llm_api_key', 'search_api_key'];

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
