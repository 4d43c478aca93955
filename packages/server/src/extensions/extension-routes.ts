import { ExtensionList } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';
import { installedHooks } from './installed-hooks.ts';
import { installedPlugins, type InstalledPlugin } from './installed-plugins.ts';
import { toolFolders, type ToolFiles } from './installed-tools.ts';

interface ExtensionContext {
  readonly config: { readonly home: string };
  readonly toolFiles: Pick<ToolFiles, 'read'>;
}

/** What the server's user added, as the files are now. They are changed on the machine itself: they run there. */
export const extensionRoutes: Routes<ExtensionContext> = (app, { config: { home }, toolFiles }) => {
  app.get('/api/extensions', { schema: { response: { 200: ExtensionList } } }, async () => {
    const [installed, { plugins }] = await Promise.all([installedHooks(home), installedPlugins(home)]);
    const enabled = plugins.filter(({ isEnabled }) => isEnabled);
    const { tools, problems } = await toolFiles.read(toolFolders(home, enabled));
    return {
      tools: tools.map(({ tool: { spec }, file, isReadOnly }) => ({
        name: spec.name,
        description: spec.description,
        file: file.path,
        is_read_only: isReadOnly,
      })),
      hooks: installed.hooks.map(({ name, moment, match, command, blocksOnFailure }) => ({
        name,
        moment,
        match: match ?? null,
        command,
        blocks_on_failure: blocksOnFailure,
      })),
      plugins: plugins.map((plugin) => {
        const { id, version, description, isEnabled } = plugin;
        return { id, version, description, is_enabled: isEnabled, brings: broughtBy(plugin) };
      }),
      problems: [...new Set([...installed.problems, ...installed.pluginProblems, ...problems])],
    };
  });
};

function broughtBy({ skillsIn, mcpServers, hooks, toolFolder }: InstalledPlugin): string[] {
  const servers = mcpServers.shttp_servers.length + mcpServers.sse_servers.length;
  const words = [
    skillsIn !== undefined && 'skills',
    servers > 0 && counted(servers, 'MCP server'),
    hooks.length > 0 && counted(hooks.length, 'hook'),
    toolFolder !== undefined && 'tools',
  ];
  return words.filter((word) => word !== false);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
