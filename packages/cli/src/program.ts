import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { type AddCommand, EXIT } from './add-command.ts';

/** Without a command: a chat, or one task with -p or from standard input. */
const chat = () => import('./chat-command.ts');

/** In the order of `--help`. Each is loaded when it is needed, so a start pays for one command only. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  serve: async () => (await import('./serve-command.ts')).serveCommand,
  drain: async () => (await import('./drain-command.ts')).drainCommand,
  run: async () => (await import('./run-command.ts')).runCommand,
  acp: async () => (await import('./acp-command.ts')).acpCommand,
  ls: async () => (await import('./ls-command.ts')).lsCommand,
  show: async () => (await import('./show-command.ts')).showCommand,
  open: async () => (await import('./open-command.ts')).openCommand,
  rm: async () => (await import('./rm-command.ts')).rmCommand,
  undo: async () => (await import('./undo-command.ts')).undoCommand,
  fork: async () => (await import('./fork-command.ts')).forkCommand,
  export: async () => (await import('./export-command.ts')).exportCommand,
  import: async () => (await import('./import-command.ts')).importCommand,
  eval: async () => (await import('./eval-command.ts')).evalCommand,
  replay: async () => (await import('./replay-command.ts')).replayCommand,
  backup: async () => (await import('./backup-command.ts')).backupCommand,
  migrate: async () => (await import('./migrate-command.ts')).migrateCommand,
  restore: async () => (await import('./restore-command.ts')).restoreCommand,
  doctor: async () => (await import('./doctor-command.ts')).doctorCommand,
  config: async () => (await import('./config-command.ts')).configCommand,
  models: async () => (await import('./models-command.ts')).modelsCommand,
  mcp: async () => (await import('./mcp-command.ts')).mcpCommand,
  hooks: async () => (await import('./hooks-command.ts')).hooksCommand,
  tools: async () => (await import('./tools-command.ts')).toolsCommand,
  notes: async () => (await import('./notes-command.ts')).notesCommand,
  triggers: async () => (await import('./triggers-command.ts')).triggersCommand,
  plugins: async () => (await import('./plugins-command.ts')).pluginsCommand,
  sandboxes: async () => (await import('./sandboxes-command.ts')).sandboxesCommand,
  keys: async () => (await import('./keys-command.ts')).keysCommand,
  users: async () => (await import('./users-command.ts')).usersCommand,
  audit: async () => (await import('./audit-command.ts')).auditCommand,
  retention: async () => (await import('./retention-command.ts')).retentionCommand,
  rules: async () => (await import('./rules-command.ts')).rulesCommand,
  secrets: async () => (await import('./secrets-command.ts')).secretsCommand,
  executor: async () => (await import('./executor-command.ts')).executorCommand,
  conformance: async () => (await import('./conformance-command.ts')).conformanceCommand,
  schema: async () => (await import('./schema-command.ts')).schemaCommand,
  completion: async () => (await import('./completion-command.ts')).completionCommand,
};

/** The command that the first argument names, or the chat; all of them for the help and for an unknown command. */
async function commandsOf([name = '']: readonly string[]): Promise<readonly AddCommand[]> {
  if (name === '-V' || name === '--version') return [];
  const isHelp = ['-h', '--help', 'completion'].includes(name);
  if (name === 'tail') return [await COMMANDS.show!()];
  if (Object.hasOwn(COMMANDS, name) && !isHelp) return [await COMMANDS[name]!()];
  if (name === '' || (name.startsWith('-') && !isHelp)) return [(await chat()).chatCommand];
  // Only its options: an unknown word is not a task.
  return [(await chat()).addChatOptions, ...(await Promise.all(Object.values(COMMANDS).map((one) => one())))];
}

/** Reads the arguments (without node and script), runs the command, resolves with the exit code. */
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
      `\nModels: /setup in the chat stores one, or set LLM_MODEL and LLM_API_KEY (LLM_BASE_URL for an endpoint of your own). Without them a scripted demonstration answers.
Without a command, tendon is a chat in the folder you are in. Each command says more with --help, and tendon doctor says what works on this machine.`,
    );
  for (const add of await commandsOf(args)) add(program, (code) => void (exitCode = code));
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.failed;
  }
}
