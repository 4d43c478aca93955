import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { backupCommand } from './backup/backup-command.ts';
import { restoreCommand } from './backup/restore-command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { executorCommand } from './executor-command.ts';
import { EXIT } from './exit-code.ts';
import { importCommand } from './import/import-command.ts';
import { conformanceCommand } from './conformance/conformance-command.ts';
import { keysCommand } from './keys/keys-command.ts';
import { replayCommand } from './replay/replay-command.ts';
import { runCommand } from './run-command.ts';
import { sandboxesCommand } from './sandboxes/sandboxes-command.ts';
import { serveCommand } from './serve-command.ts';

/** A command adds itself to the program and tells its exit code to `end`. */
export type AddCommand = (program: Command, end: (exitCode: number) => void) => void;

const COMMANDS: readonly AddCommand[] = [
  serveCommand,
  runCommand,
  importCommand,
  replayCommand,
  backupCommand,
  restoreCommand,
  doctorCommand,
  sandboxesCommand,
  keysCommand,
  executorCommand,
  conformanceCommand,
];

/** Reads the arguments (without node and script), runs the command, resolves with the exit code. What a command needs is imported by it. */
export async function runProgram(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = new Command('tendon')
    .description('An agent server for software development: a task goes in, an agent works on it in a sandbox, every event comes out.')
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showHelpAfterError('Run it with --help to see how.')
    .exitOverride()
    .addHelpText(
      'after',
      `\nModels: set LLM_MODEL and LLM_API_KEY (LLM_BASE_URL for an endpoint of your own). Without them a scripted demonstration answers.
Each command says more with --help, and tendon doctor says what works on this machine.`,
    );
  for (const add of COMMANDS) add(program, (code) => void (exitCode = code));
  if (args.length === 0) {
    process.stderr.write(program.helpInformation());
    return EXIT.usage;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.failed;
  }
}
