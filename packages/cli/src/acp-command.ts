import { Readable, Writable } from 'node:stream';
import packageJson from '../package.json' with { type: 'json' };
import { withOptions, type EnvironmentOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
An editor starts this command and talks to it over standard input and output (JSON-RPC of the Agent Client Protocol, version 1, or the
draft of version 2 if the editor asks for it). The sessions of the editor are conversations of the server that runs on your home. If none
runs, the command starts one, which ends when nobody uses it any more.
Exit code: 0 the editor disconnected, 1 it failed, 2 wrong options or environment.`;

export const acpCommand: AddCommand = (program, end) => {
  program
    .command('acp')
    .description('serve an editor as its agent, over the Agent Client Protocol: Zed, JetBrains, Neovim')
    .option('-m, --model <name>', 'model as provider/name, for a server that is started')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (options: EnvironmentOptions) => {
      const { grantFolder, readFiledConfig } = await import('@tendon/server/headless');
      const env = withOptions(process.env, options);
      const read = await readFiledConfig(env);
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      const [{ agentProtocolRouter, ndJsonStream }, { AttachedServer }, { acpAgent }, { acpV2Agent }] = await Promise.all([
        import('@agentclientprotocol/sdk/experimental/v2'),
        import('./attach/attached-server.ts'),
        import('./acp/acp-agent.ts'),
        import('./acp/acp-v2-agent.ts'),
      ]);
      const gone = new AbortController();
      let attached: ReturnType<typeof AttachedServer.attach> | undefined;
      const parts = {
        version: packageJson.version,
        server: async () => {
          const known = attached;
          attached ??= AttachedServer.attach(read.config, env).catch((error: unknown) => {
            attached = undefined;
            throw error;
          });
          if (known) await (await known).find({ starts: true });
          return attached;
        },
        grant: (folder: string) => grantFolder(read.config.home, folder),
        signal: gone.signal,
      };
      const app = agentProtocolRouter().withV1(acpAgent(parts)).withV2(acpV2Agent(parts));
      const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
      await app.connect(ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, input)).closed;
      gone.abort(new Error('the editor has left'));
      end(EXIT.done);
    });
};
