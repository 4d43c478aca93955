/** What was found out in the sandbox when a conversation began. Everything in it is printed by programs of the sandbox: untrusted, bounded. */
export interface Surroundings {
  /** The first that was found: the workspace itself, or one right inside it. */
  readonly repository?: Repository | undefined;
  /** Lines: the state of repositories, the operating system, programs. */
  readonly facts: readonly string[];
  /** What listens there: its address, and its port. */
  readonly hosts: Readonly<Record<string, number>>;
  /** Instructions deeper in the workspace, as paths in it. */
  readonly nested: readonly string[];
}

interface Repository {
  readonly name: string;
  /** Absolute, in the sandbox. */
  readonly folder: string;
  readonly branch: string;
}
