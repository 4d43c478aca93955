import { withOptions, type EnvironmentOptions } from './environment-options.ts';
import type { AddCommand } from './add-command.ts';

const HELP = `
Without options the environment decides: PORT, HOST, WORKSPACE_BASE, TENDON_HOME, LLM_MODEL, LLM_API_KEY, LLM_BASE_URL, SESSION_API_KEY, RUNTIME.
Exit code: 0 asked to stop, 1 could not start, 2 wrong options or environment.`;

export const serveCommand: AddCommand = (program, end) => {
  program
    .command('serve')
    .description('serve clients over HTTP, Socket.IO and /ws, and the web page')
    .option('-p, --port <number>', 'port to listen on (default 3000; 0 takes a free one)')
    .option('--host <address>', 'address to listen on (default 127.0.0.1; any other needs an API key)')
    .option('-w, --workspace <folder>', 'the folder agents work in (default: one of its own for each conversation)')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .option('-m, --model <name>', 'model as provider/name, e.g. anthropic/claude-sonnet-4-20250514')
    .option('--runtime <driver>', 'where commands run: local (sandboxed, the default), docker, remote, or none (no isolation at all)')
    .option('--config-file <file>', 'a config.toml beneath the environment (default: the one in the home, if there is one)')
    .option('--trace <address>', 'send traces there, as OTLP over HTTP, e.g. http://127.0.0.1:4318 (default: none are made)')
    .option('--while-used', 'exit when nobody is connected any more and no agent works')
    .addHelpText('after', HELP)
    .action(async ({ whileUsed = false, ...options }: EnvironmentOptions & { readonly whileUsed?: boolean }) => {
      const { serve } = await import('@tendon/server');
      end(await serve(withOptions(process.env, options), { whileUsed }));
    });
};
