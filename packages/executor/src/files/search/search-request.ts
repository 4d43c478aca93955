/** What is searched for, in the folder that the search starts in. */
export interface SearchRequest {
  /** `grep`: lines that a regular expression fits; `glob`: files whose path fits. */
  readonly kind: 'grep' | 'glob';
  readonly pattern: string;
  /** `grep`: a glob that narrows it to some files. */
  readonly include?: string;
  /** `.` for the folder, or the name of one file in it. */
  readonly target: string;
}
