import type { StateReport } from './report-reader.ts';

/** Where a shell is; a detached process starts with its folder and its variables. */
export interface Place {
  readonly workingDir: string;
  readonly username: string;
  readonly hostname: string;
  /** Of the last background job; −1 without one. */
  readonly pid: number;
  /** `declare -x` lines. */
  readonly exports: string;
}

/** What makes the next shell like this one. */
export interface ShellSnapshot {
  readonly workingDir: string;
  /** The next shell reads it at its start: variables, functions, aliases, options. */
  readonly shell: string;
}

/**
 * What a session knows of its shell, from the shell's own reports: it outlives the shell, so that another can go on in the same folder
 * with the same variables.
 */
export class ShellMemory {
  #place: Place;
  /** What the next shell starts with. */
  #restore: string;
  #asked: ShellSnapshot | undefined;

  constructor({ workingDir, shell }: ShellSnapshot) {
    this.#place = { workingDir, username: '', hostname: '', pid: -1, exports: '' };
    this.#restore = shell;
  }

  get place(): Place {
    return this.#place;
  }

  get restore(): string {
    return this.#restore;
  }

  learn(report: StateReport): void {
    if (report.kind === 'end') {
      const { workingDir, username, hostname, pid, exports } = report;
      this.#place = { workingDir, username, hostname, pid, exports };
      this.#restore = exports;
    } else if (report.kind === 'exit') {
      this.moveTo(report.workingDir);
      this.#restore = report.state;
    } else this.#asked = { workingDir: report.workingDir, shell: report.state };
  }

  moveTo(workingDir: string): void {
    this.#place = { ...this.#place, workingDir };
  }

  /** The next shell starts with nothing. False where it would have anyway. */
  forgetVariables(): boolean {
    const had = this.#restore !== '';
    this.#restore = '';
    return had;
  }

  forgetSnapshot(): void {
    this.#asked = undefined;
  }

  /** What the shell answered when it was asked for its state; without an answer, its folder and its exported variables are known. */
  get snapshot(): ShellSnapshot {
    return this.#asked ?? { workingDir: this.#place.workingDir, shell: this.#place.exports };
  }
}
