import { z } from 'zod';

/** `GET …/list-files`: folders end in `/` and come first; with `path`, entries are prefixed by it. */
export const FileList = z.array(z.string());
export type FileList = z.output<typeof FileList>;

/** `GET …/select-file`, and the founding document's `FileContent`. */
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

export const SaveFile = z.object({ filePath: z.string().min(1), content: z.string() });
export type SaveFile = z.output<typeof SaveFile>;

/** Added, modified, deleted, unmerged; sorted by path. Untracked files count as added, a rename as a deletion and an addition. */
export const GitChanges = z.array(z.object({ status: z.enum(['A', 'M', 'D', 'U']), path: z.string() }));
export type GitChanges = z.output<typeof GitChanges>;

export const GitDiff = z.object({ modified: z.string(), original: z.string() });
export type GitDiff = z.output<typeof GitDiff>;
