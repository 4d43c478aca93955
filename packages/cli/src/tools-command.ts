import { resolve } from 'node:path';
import type { InstalledTool } from '@tendon/server/headless';
import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions, type Report } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
A tool is a file of TypeScript in ~/.tendon/tools that exports name, description, parameters (JSON Schema) and run(args, context). Agents
can call it from their next turn on. It runs on this machine as you, outside every sandbox, in a new process for each call.
  tendon tools new count_words                        # writes ~/.tendon/tools/count_words.ts to begin with
  tendon tools try count_words '{"text": "a b c"}'    # calls it, with secrets from variables of the same name
Tools in a repository are not read. More: docs/tools.md.
Exit code: 0 done, 1 a file is invalid or the call failed, 2 wrong usage.`;

export const toolsCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'tools',
    description: 'tools of your own, in TypeScript, that agents call',
    help: HELP,
    open: async ({ home }) => {
      const { enabledPlugins, newTool, systemClock, ToolFiles, toolFolders } = await import('@tendon/server/headless');
      const files = new ToolFiles(systemClock);
      return {
        read: async () => files.read(toolFolders(home, await enabledPlugins(home))),
        make: (name: string) => newTool(home, name),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  });

  add('list', 'the valid tools, and what is wrong with the others (the default)').action((options: HomeOptions) =>
    carryOut(options, async ({ read }) => {
      const { tools, problems } = await read();
      return reportOf(tools, problems, 'There are no tools. tendon tools new NAME writes one.');
    }),
  );

  add('check <file>', 'check whether a file is a valid tool, wherever it is').action((file: string, options: HomeOptions) =>
    carryOut(options, async () => {
      const { loadToolFile } = await import('@tendon/server/headless');
      const loaded = await loadToolFile({ path: resolve(file), env: {} });
      return 'problem' in loaded ? reportOf([], [loaded.problem], '') : reportOf([loaded], [], '');
    }),
  );

  add('new <name>', 'write a starting point, and types for your editor').action((name: string, options: HomeOptions) =>
    carryOut(options, async ({ make }) => {
      const path = await make(name);
      return { json: { path }, text: printable(`${path} is written. Change it, and look at it with tendon tools.`) };
    }),
  );

  add('try <name> [arguments]', 'call one, with arguments as JSON').action((name: string, args: string | undefined, options: HomeOptions) =>
    carryOut(options, async ({ read }) => {
      const { tools, problems } = await read();
      const installed = tools.find(({ tool }) => tool.spec.name === name);
      if (!installed) return failed([`There is no tool ${name}.`, ...problems].join('\n'));
      return tried(installed, args ?? '{}');
    }),
  );
};

async function tried({ tool, file, secrets, timeoutMs }: InstalledTool, given: string): Promise<Report> {
  const { callTool } = await import('@tendon/server/headless');
  const parsed = tool.toAction(parsedArguments(given));
  if (!parsed.ok) return failed(parsed.error);
  const { arguments: args } = parsed.action.args as { readonly arguments: Readonly<Record<string, unknown>> };
  const missing = secrets.find((name) => process.env[name] === undefined);
  if (missing !== undefined) return failed(`It needs the secret ${missing}: set the variable ${missing} to try it.`);
  const context = {
    conversationId: '',
    workspace: process.cwd(),
    secrets: Object.fromEntries(secrets.map((name) => [name, process.env[name]!])),
  };
  const result = await callTool(file, { args, context, timeoutMs, signal: new AbortController().signal });
  if ('failure' in result) return failed(`It failed: ${result.failure}`);
  return { json: { result: result.text }, text: printable(result.text) };
}

function parsedArguments(given: string): Record<string, unknown> {
  const wrong = new Error('The arguments are a JSON object: \'{"text": "a b"}\'.');
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    throw wrong;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong;
  return value as Record<string, unknown>;
}

function failed(words: string): Report {
  const text = printable(words);
  return { json: { error: text }, text, code: EXIT.failed };
}

function reportOf(tools: readonly InstalledTool[], problems: readonly string[], nothing: string): Report {
  const json = tools.map(({ tool: { spec }, file, isReadOnly, isOutside, timeoutMs, secrets }) => ({
    name: spec.name,
    description: spec.description,
    parameters: spec.parameters,
    file: file.path,
    read_only: isReadOnly,
    outside: isOutside,
    timeout: timeoutMs / 1000,
    secrets,
  }));
  const lines = [...problems, ...(tools.length === 0 && problems.length === 0 ? [nothing] : tools.map(describe))];
  return { json: { tools: json, problems }, text: printable(lines.join('\n')), code: problems.length > 0 ? EXIT.failed : EXIT.done };
}

function describe({ tool: { spec }, file, isReadOnly, isOutside, timeoutMs, secrets }: InstalledTool): string {
  const names = Object.keys((spec.parameters.properties ?? {}) as object).join(', ');
  return [
    `${spec.name}(${names})`,
    spec.description,
    `${file.path}${isReadOnly ? ', only reads' : ''}${isOutside ? ', returns words of others' : ''}, ${timeoutMs / 1000} s at most`,
    secrets.length > 0 && `is given ${secrets.join(', ')}`,
  ]
    .filter(Boolean)
    .join('\n  ');
}
