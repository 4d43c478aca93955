import { spawn } from 'node:child_process';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
Prints the address of the page, and opens it where there is a desktop. Needs the server of this home: tendon serve.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Options {
  readonly json?: boolean;
  readonly home?: string;
}

export const openCommand: AddCommand = (program, end) => {
  program
    .command('open')
    .description('open the page in the browser, or one conversation')
    .argument('[conversation]', 'its id')
    .option('--json', 'print JSON, and open nothing')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (given: string | undefined, { json = false, home }: Options) => {
      const { findConversation, openHomeServer } = await import('./attach/home-server.ts');
      await using server = await openHomeServer(home);
      if (!server.isShared) throw new Error('No server runs on this home: start tendon serve, and try again.');
      const path = given === undefined ? '/' : `/conversations/${(await findConversation(server.rest, given)).conversation_id}`;
      const url = `${server.address.url}${path}`;
      process.stdout.write(json ? `${JSON.stringify({ url })}\n` : `${url}\n`);
      if (!json && process.stdout.isTTY) launch(url);
      end(EXIT.done);
    });
};

/** What opens pages on this machine, if anything does: the address is printed anyway. */
function launch(url: string): void {
  const hasDesktop = process.platform === 'darwin' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!hasDesktop) return;
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
