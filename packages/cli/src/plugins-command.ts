import type { InstalledPlugin } from '@tendon/server/headless';
import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions, type Report } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
A plugin is a folder in the format of Agent Plugins 1.0 (plugin.json, skills/, mcp.json): put it into ~/.tendon/plugins. Agents get its
skills and remote MCP servers in conversations that are opened from then on. Hooks and tools of a plugin (dev.tendon/) run on this
machine as you, outside every sandbox: install only what you have read. Plugins in a repository are not read.
Exit code: 0 done, 1 a part of a plugin is invalid or there is no such plugin, 2 wrong usage.`;

export const pluginsCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'plugins',
    description: 'list plugins: folders of skills, MCP servers, hooks and tools',
    help: HELP,
    open: async ({ home }) => {
      const { installedPlugins, enablePlugin } = await import('@tendon/server/headless');
      return {
        read: () => installedPlugins(home),
        enable: (id: string, isEnabled: boolean) => enablePlugin(home, id, isEnabled),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  });

  add('list', 'the installed plugins, and what each contains (the default)').action((options: HomeOptions) =>
    carryOut(options, async ({ read }) => reportOf(await read())),
  );
  for (const [name, isEnabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    add(`${name} <plugin>`, `${name} one, by the name of its folder`).action((id: string, options: HomeOptions) =>
      carryOut(options, async ({ read, enable }) => {
        if (!(await read()).plugins.some((plugin) => plugin.id === id)) return notFound(id);
        await enable(id, isEnabled);
        const { plugins, problems } = await read();
        return reportOf({ plugins: plugins.filter((plugin) => plugin.id === id), problems });
      }),
    );
  }
};

function notFound(id: string): Report {
  const text = printable(`There is no plugin ${id}. tendon plugins lists them.`);
  return { json: { error: text }, text, code: EXIT.failed };
}

function reportOf({ plugins, problems: common }: { plugins: readonly InstalledPlugin[]; problems: readonly string[] }): Report {
  const json = plugins.map(({ hooks, skillsIn, mcpServers, isEnabled, toolFolder, areHooksRead: _areRead, ...plugin }) => ({
    ...plugin,
    is_enabled: isEnabled,
    has_skills: skillsIn !== undefined,
    has_tools: toolFolder !== undefined,
    mcp_servers: serversOf(mcpServers),
    hooks: hooks.map(({ name, moment, command }) => ({ name, moment, command })),
  }));
  const code = common.length > 0 || plugins.some(({ problems }) => problems.length > 0) ? EXIT.failed : EXIT.done;
  const list = plugins.length > 0 ? plugins.map(describe) : ['There are no plugins. tendon plugins --help says how to install one.'];
  return { json: { plugins: json, problems: common }, text: printable([...common, ...list].join('\n')), code };
}

function serversOf({ shttp_servers: http, sse_servers: sse }: InstalledPlugin['mcpServers']): readonly string[] {
  return [...http, ...sse].map((server) => (typeof server === 'string' ? server : server.url));
}

function describe({ id, version, description, isEnabled, skillsIn, mcpServers, hooks, toolFolder, problems }: InstalledPlugin): string {
  const lines = [
    `${id}${version && ` ${version}`}${isEnabled ? '' : ' (disabled)'}`,
    description,
    skillsIn && 'skills',
    ...serversOf(mcpServers).map((url) => `MCP server ${url}`),
    ...hooks.map(({ moment, command }) => `hook ${moment}: ${command}`),
    toolFolder && 'tools (tendon tools lists them)',
    ...problems,
  ];
  return lines.filter(Boolean).join('\n  ');
}
