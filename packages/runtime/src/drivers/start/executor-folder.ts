/** The program that runs inside: one read-only folder and the Node that runs it. */
export interface ExecutorFolder {
  /** Absolute host path of the folder. */
  readonly folder: string;
  /** Entry file, relative to `folder`. */
  readonly entry: string;
  /** The Node binary. */
  readonly node: string;
}
