/** How much of what commands and cells print is kept, and shown. */
export interface OutputLimits {
  /** Of an observation, in UTF-16 units. */
  readonly chars: number;
  /** Of the file that keeps one output whole. */
  readonly fileBytes: number;
  /** Of all those files of a conversation together. */
  readonly folderBytes: number;
}

/** More than 30,000 characters no client of the old protocols is given; what is longer than that would be cut a second time. */
export const OUTPUT_LIMITS: OutputLimits = { chars: 30_000, fileBytes: 512 * 1024 ** 2, folderBytes: 1024 ** 3 };
