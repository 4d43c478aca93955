import { z } from 'zod';
import { confirmationState, defineAction, defineObservation, securityRisk, thought } from '../define.ts';

/** A shell command, input to a running one (`is_input`), or a command beside the session (`is_static`). */
export const RunAction = defineAction({
  kind: 'run',
  args: () => ({
    command: z.string(),
    is_input: z.boolean().default(false),
    thought,
    blocking: z.boolean().default(false),
    is_static: z.boolean().default(false),
    cwd: z.string().nullable().default(null),
    hidden: z.boolean().default(false),
    confirmation_state: confirmationState,
    security_risk: securityRisk,
    /** Of the first protocol: start it beside the session and answer at once. */
    background: z.boolean().optional(),
    /** The name of a shell of its own; nothing is the usual one. */
    session: z.string().optional(),
    /** A person types into the agent's own shell until they give it back; `command` is a comment that says so. */
    take_over: z.boolean().optional(),
  }),
  traits: { answeredBy: 'runtime', mutating: true, confirmable: true },
  message: (args) => `Running command: ${args.command}`,
});

/** What stands in the log, and in a terminal that replays it, where a person typed themselves. */
export const TAKE_OVER_COMMAND = '# A person types into this terminal.';

/** A person takes the agent's terminal over. */
export function takeOverAction(): ReturnType<typeof RunAction.create> {
  return RunAction.create({ command: TAKE_OVER_COMMAND, take_over: true });
}

/** Ends a command that was started with `background`, by its number, or a shell of its own, by its name. */
export const KillAction = defineAction({
  kind: 'kill',
  args: () => ({ id: z.coerce.string(), thought }),
  traits: { answeredBy: 'runtime', mutating: true },
  message: (args) => `Killing command: ${args.id}`,
});

export const RunIpythonAction = defineAction({
  kind: 'run_ipython',
  args: () => ({
    code: z.string(),
    thought,
    include_extra: z.boolean().default(true),
    confirmation_state: confirmationState,
    security_risk: securityRisk,
    kernel_init_code: z.string().default(''),
  }),
  traits: { answeredBy: 'runtime', mutating: true, confirmable: true },
  message: (args) => `Running Python code interactively: ${args.code}`,
});

/** `exit_code` −1: still running or unknown. `pid` −1: unknown. `prefix` and `suffix` are hints for the model, not output. */
const commandMetadata = z.looseObject({
  exit_code: z.number().int().default(-1),
  pid: z.number().int().default(-1),
  username: z.string().nullable().default(null),
  hostname: z.string().nullable().default(null),
  working_dir: z.string().nullable().default(null),
  py_interpreter_path: z.string().nullable().default(null),
  prefix: z.string().default(''),
  suffix: z.string().default(''),
});

export const RunObservation = defineObservation({
  kind: 'run',
  extras: () => ({
    command: z.string(),
    metadata: commandMetadata.prefault({}),
    hidden: z.boolean().default(false),
  }),
  message: (extras) => `Command \`${extras.command}\` executed with exit code ${extras.metadata.exit_code}.`,
});

export const RunIpythonObservation = defineObservation({
  kind: 'run_ipython',
  extras: () => ({ code: z.string(), image_urls: z.array(z.string()).nullable().default(null) }),
  message: () => 'Code executed in IPython cell.',
});
