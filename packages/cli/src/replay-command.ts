import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';
import type { ReplayOptions } from './replay/replay-recording.ts';

const HELP = `
FILE is an exported trajectory (JSON or JSON lines) or the folder of a conversation of OpenHands; ID is a conversation stored here. Its commands, cells,
reads and edits run again in an empty workspace; times, process ids and generated paths below /tmp are not compared. No model is used.
Exit code: 0 equal, 1 different, or it could not be done, 2 wrong usage, 130 interrupted.`;

interface ReplayCommandOptions {
  readonly all?: boolean;
  readonly json?: boolean;
  readonly workspace?: string;
  readonly home?: string;
  readonly runtime?: string;
}

export const replayCommand: AddCommand = (program, end) => {
  program
    .command('replay')
    .description('run the actions of a recording again in a fresh sandbox, and report what comes out differently')
    .argument('<file|id>', 'the recording')
    .option('--all', 'continue after the first difference and list all of them')
    .option('--json', 'print the result as one line of JSON')
    .option('-w, --workspace <folder>', 'begin with a copy of this folder')
    .option('--home <folder>', 'where conversations are stored (default ~/.tendon)')
    .option('--runtime <driver>', 'where commands run: local (sandboxed, the default), docker, remote, or none (no isolation at all)')
    .addHelpText('after', HELP)
    .action(async (target: string, { all = false, json = false, workspace, home, runtime }: ReplayCommandOptions) => {
      const env = withOptions(process.env, { ...(home && { home }), ...(runtime && { runtime }) });
      const { readFiledConfig } = await import('@tendon/server/headless');
      const read = await readFiledConfig(env);
      const problems = read.ok ? [] : [...read.problems];
      if (read.ok && read.config.runtime === 'none' && runtime !== 'none')
        problems.push('A recording may hold anything: without a sandbox it is only done again with --runtime none.');
      if (!read.ok || problems.length > 0) {
        process.stderr.write(`${problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      const options: ReplayOptions = { target, all, json, workspace, env: read.env, config: read.config };
      const { replayRecording } = await import('./replay/replay-recording.ts');
      end(await replayRecording(options));
    });
};
