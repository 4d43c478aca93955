import type { WantedTests } from './judge-tests.ts';

/** What the agent may take for one attempt. */
export interface TaskLimits {
  readonly seconds: number;
  readonly steps: number;
  readonly usd: number | undefined;
}

/** How an attempt is judged, in a sandbox that the agent was never in. */
interface TaskCheck {
  /** Run in the workspace; exit code 0 means solved, where no `tests` decide. `$CHECK` is the folder that `bring` filled. */
  readonly command: string;
  readonly seconds: number;
  /** Which decide where what the command prints names them. */
  readonly tests?: WantedTests;
  /** Fills an empty folder of the host, which is inside the workspace while the check runs. */
  bring(folder: string): Promise<void>;
}

/** How a task is prepared, solved and judged. */
interface TaskWork {
  /** Fills the empty workspace, a folder of the host, before its sandbox starts. */
  fill(workspace: string): Promise<void>;
  /** A script that prepares the workspace from inside the sandbox. */
  readonly setup: string | undefined;
  readonly check: TaskCheck;
  /** Prints, in the workspace, what the agent has changed. */
  readonly patch?: string;
  /** Answers of a scripted model that solve it. */
  readonly solution: readonly object[] | undefined;
}

/** One task of a dataset, whatever its format. */
export interface EvalTask extends TaskWork {
  readonly id: string;
  readonly prompt: string;
  readonly tags: readonly string[];
  readonly limits: TaskLimits;
  /** Of everything that decides the result: a task that has changed is another one. */
  readonly digest: string;
}

/** Ids name files of the results. */
export const TASK_ID = /^[A-Za-z0-9][\w.+-]{0,150}$/;
/** Where the check lies in the workspace; what the agent has put there is removed first. */
export const CHECK_FOLDER = '.tendon-check';
