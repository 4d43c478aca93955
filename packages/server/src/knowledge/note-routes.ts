import { Failure, NoteFileInfo, NoteFileList, ReplaceNotes } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';
import { failureWith } from '../platform/http/failure.ts';
import type { Notes } from './notes.ts';

/** What agents remember between conversations, for the person who corrects it. */
export const noteRoutes: Routes<{ readonly notes: Notes }> = (app, { notes }) => {
  app.get('/api/notes', { schema: { response: { 200: NoteFileList } } }, async () => ({ files: [...(await notes.list())] }));

  app.put(
    '/api/notes',
    { schema: { body: ReplaceNotes, response: { 200: NoteFileInfo, 409: Failure, 422: Failure } } },
    async ({ body }, reply) => {
      const file = await notes.replace(body.name, body.text, body.replaces);
      return 'name' in file ? file : reply.code(file.isOther ? 409 : 422).send(failureWith(file.problem));
    },
  );
};
