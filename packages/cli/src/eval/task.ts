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
  /** The tests that decide if the command's output names them. */
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
  /** A command in the workspace that prints the agent's changes. */
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
  /** A digest of everything that affects the result: a changed task is another task. */
  readonly digest: string;
}

/** Ids name files of the results. */
export const TASK_ID = /^[A-Za-z0-9][\w.+-]{0,150}$/;
/** The folder of the check in the workspace; anything that the agent has put there is removed first. */
export const CHECK_FOLDER = '.tendon-check';
