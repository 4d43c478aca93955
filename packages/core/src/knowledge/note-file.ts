/** What agents remember between conversations, as a person may have corrected it. */
export interface NoteFile {
  readonly about: 'user' | 'repository';
  /** In the server's home. */
  readonly path: string;
  readonly lines: readonly string[];
}
