import { Option } from 'commander';
import { withOptions, type EnvironmentOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
A server uses it with RUNTIME=remote, SANDBOX_REMOTE_RUNTIME_API_URL=<its address> and SANDBOX_API_KEY=<its key>.
The key comes from TENDON_EXECUTOR_KEY or --key-file. Without either, one is generated, stored and printed, unless only this machine can
reach the port. Anyone who has the key can do what an agent can: on any network, put a proxy with TLS in front.
Exit code: 0 asked to stop, 1 could not start, 2 wrong options or environment.`;

interface Options extends EnvironmentOptions {
  readonly openapi?: boolean;
  readonly inject?: string;
}

export const executorCommand: AddCommand = (program, end) => {
  program
    .command('executor')
    .description('run sandboxes on this machine for Tendon servers on others')
    .addOption(new Option('-p, --port <number>', 'port to listen on (0 takes a free one)').default('3001', '3001'))
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .option('-w, --workspace <folder>', 'the folder agents work in (default: one of its own for each conversation)')
    .option('--driver <driver>', 'local (sandboxed, the default), docker (containers of any image) or none (no isolation at all)')
    .option('--home <folder>', 'where sandboxes are stored (default ~/.tendon, in its folder executor)')
    .option('--key-file <file>', 'a file that holds the key')
    .option('--inject <folder>', 'write the files that turn a container of any image into a sandbox to a folder, and exit')
    .option('--openapi', 'print the description of its routes (OpenAPI 3.1) and exit')
    .addHelpText('after', HELP)
    .action(async ({ openapi = false, inject, ...options }: Options) => {
      const { executorOpenApi, injectExecutor, serveExecutor } = await import('@tendon/sandbox-host');
      if (inject !== undefined) {
        await injectExecutor(inject);
        return end(EXIT.done);
      }
      if (!openapi) return end(await serveExecutor(withOptions(process.env, options)));
      const text = await executorOpenApi();
      await new Promise((written) => process.stdout.write(text, written)); // a pipe takes 64 KiB at once
      end(EXIT.done);
    });
};
