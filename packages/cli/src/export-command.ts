import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option } from 'commander';
import { EXIT, type AddCommand } from './add-command.ts';
import type { ExportFormat } from './export/open-export.ts';

const HELP = `
json and jsonl contain every event and can be imported and replayed; atif is the Agent Trajectory Interchange Format; markdown is for people.
Works through the server that runs on this home, or without one.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Options {
  readonly format: ExportFormat;
  readonly output?: string;
  readonly home?: string;
}

export const exportCommand: AddCommand = (program, end) => {
  program
    .command('export')
    .description('write a conversation as JSON, JSON lines, ATIF or Markdown')
    .argument('<conversation>', 'its id, or the first letters of it')
    .addOption(new Option('-f, --format <format>', 'the format').choices(['json', 'jsonl', 'atif', 'markdown']).default('json'))
    .option('-o, --output <file>', 'write to this file (default: standard output)')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (conversation: string, { format, output, home }: Options) => {
      const { openExport } = await import('./export/open-export.ts');
      await using text = await openExport(home, conversation, format);
      await (output === undefined ? pipeline(text.read(), process.stdout, { end: false }) : writeFile(output, text.read()));
      end(EXIT.done);
    });
};

/** The file appears only when it is complete. */
async function writeFile(path: string, text: Readable): Promise<void> {
  const unfinished = `${path}.unfinished-${process.pid}`;
  try {
    await pipeline(text, createWriteStream(unfinished, { mode: 0o600 }));
    await rename(unfinished, path);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw cause;
  }
}
