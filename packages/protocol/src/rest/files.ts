import { z } from 'zod';

/** `GET …/list-files`: folders end in `/` and come first; with `path`, entries are prefixed by it. */
export const FileList = z.array(z.string());
export type FileList = z.output<typeof FileList>;

/** `GET …/select-file`, and the `FileContent` of `openhands-events.md`. */
export const FileContent = z.object({ code: z.string() });
export type FileContent = z.output<typeof FileContent>;

/** Full paths since 0.45, names before. */
export const UploadAnswer = z.object({
  message: z.string().optional(),
  uploaded_files: z.array(z.string()),
  skipped_files: z.array(z.object({ name: z.string(), reason: z.string() })),
  error: z.string().optional(),
});
export type UploadAnswer = z.output<typeof UploadAnswer>;

/** No file system has a name with NUL, and no URL one with half a character. */
export const FilePath = z
  .string()
  .max(4096)
  .refine((path) => !path.includes('\0') && path.isWellFormed(), 'this is not a path');

export const SaveFile = z.object({
  filePath: FilePath.min(1),
  content: z.string(),
  /** What the file held when it was read: a file that holds something else by now is not overwritten (ours). */
  replaces: z.string().optional(),
});
export type SaveFile = z.output<typeof SaveFile>;

/** Added, modified, deleted, unmerged; sorted by path. Untracked files count as added, a rename as a deletion and an addition. */
export const GitChanges = z.array(z.object({ status: z.enum(['A', 'M', 'D', 'U']), path: z.string() }));
export type GitChanges = z.output<typeof GitChanges>;

export const GitDiff = z.object({ modified: z.string(), original: z.string() });
export type GitDiff = z.output<typeof GitDiff>;
