import type { ModelServer } from './model-server.ts';
import type { Target } from './target.ts';

/** The numbers of one row for one subject, in the row's unit. */
export type Figures = readonly number[];

/** What holds for a whole run. */
export interface Run {
  /** How often a row that is measured in rounds is measured. */
  readonly rounds: number;
  /** How many conversations the rows under load open. */
  readonly conversations: number;
  /** How long the logs of the rows about long ones are. */
  readonly events: number;
  readonly model: ModelServer;
  /** A folder of the run's own, thrown away at its end; its name stands on the command line of every sandbox. */
  readonly home: string;
}

/** A server that runs, with the run's model configured. */
export interface RunningServer {
  readonly url: string;
  /** PSS of all its processes, sandboxes included, MiB. */
  memory(): number;
}

export interface CommandLine {
  /** `{task}` stands for the task. */
  readonly text: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What is measured: a server, a command line, or both. Only our own has `build`. */
export interface Subject {
  readonly name: string;
  readonly target?: Target;
  readonly command?: CommandLine;
  readonly build?: Build;
}

/** What was built here, for rows that no peer has. */
export interface Build {
  /** A server of the row's own, on a home below the run's. */
  server(home: string, env: NodeJS.ProcessEnv): Target;
}

interface RowText {
  /** Ends with the unit. */
  readonly title: string;
  /** How the numbers are written; minimum and median by default. */
  readonly write?: (figures: Figures) => string;
}

/** One row of the table, by what it needs to be measured. */
export type Row = RowText &
  (
    | { readonly of: 'target'; measure(target: Target, run: Run): Promise<Figures> }
    | { readonly of: 'server'; measure(server: RunningServer, run: Run): Promise<Figures> }
    | { readonly of: 'command'; measure(command: CommandLine, run: Run): Promise<Figures> }
    | { readonly of: 'build'; measure(build: Build, run: Run): Promise<Figures> }
  );
