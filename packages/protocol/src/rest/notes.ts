import { z } from 'zod';

/** `user`, or `repositories/` and the name of a file there, without its ending. */
const NoteName = z.string().regex(/^(?:user|repositories\/[a-z0-9][a-z0-9._-]{0,79})$/, 'user is expected, or a name of the list');

export const NoteFileInfo = z.object({
  name: z.string(),
  /** On the server's machine. */
  path: z.string(),
  text: z.string(),
  /** Why it does not count. */
  problem: z.string().optional(),
});
export type NoteFileInfo = z.output<typeof NoteFileInfo>;

/** What agents remember between conversations. */
export const NoteFileList = z.object({ files: z.array(NoteFileInfo) });

/** The file is as this says from then on; an empty text removes it. */
export const ReplaceNotes = z.object({
  name: NoteName,
  text: z.string().max(20_000),
  /** Its text when it was read; the answer is 409 where that is another by now. */
  replaces: z.string().max(200_000).optional(),
});
