import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import type { FileContent } from '@tendon/protocol';
import { type ReactNode, Suspense, useRef, useState } from 'react';
import { DiffTable } from '../../code/diff-table.tsx';
import { lineDiff } from '../../code/line-diff.ts';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { fileName } from '../../copy/shorten.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { useFileDraft } from './drafts.ts';
import { FileBar } from './file-bar.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

const CodeEditor = lazyPart(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }));

interface TextFileProps {
  readonly path: string;
  /** What the file holds now; nothing where it was removed while something was written here. */
  readonly text: string | undefined;
  readonly acts: ReactNode;
  /** Reads the file anew. */
  readonly onAgain: () => Promise<unknown>;
}

/**
 * A text, to be edited and saved. A file that changed meanwhile, by the agent or a program, is shown as it is now while nothing was
 * written here; otherwise neither text is lost: the person decides, and sees the difference.
 */
export function TextFile({ path, text, acts, onAgain }: TextFileProps) {
  const { id, isWatched } = useConversationActs();
  const [draft, setDraft] = useFileDraft(id, path);
  const shown = draft?.text ?? text ?? '';
  const latest = useRef(shown);
  latest.current = shown;
  const save = useSave(path, (written) => setDraft({ base: written, text: latest.current }), onAgain);
  const isBehind = draft !== undefined && draft.base !== text && !save.isPending;
  const write = (written: string) => {
    latest.current = written;
    setDraft({ base: draft?.base ?? text ?? '', text: written });
  };
  const begin = () => void (draft && !isBehind && !save.isPending && save.mutate(draft));
  return (
    <>
      <FileBar path={path}>
        <span role="status" className="text-small text-ink-3">
          {save.isPending ? t('Saving') : draft ? t('Not saved') : save.isSuccess ? t('Saved') : ''}
        </span>
        {acts}
        {!isWatched && (
          <Button small look="main" hint="mod+s" disabled={!draft || isBehind} onClick={begin}>
            {t('Save')}
          </Button>
        )}
      </FileBar>
      {save.isError && !isConflict(save.error) && (
        <p className="files-notice" role="alert" data-tone="bad">
          {t('{{path}} was not saved: {{message}}.', { path: fileName(path), message: save.error.message })}
        </p>
      )}
      {isBehind && (
        <Conflict
          path={path}
          now={text}
          mine={draft.text}
          onMine={() => save.mutate({ base: text, text: draft.text })}
          onTheirs={() => setDraft(undefined)}
        />
      )}
      <Suspense fallback={<Late>{t('Opening the editor')}</Late>}>
        <CodeEditor path={path} text={shown} isReadOnly={isWatched === true} onWrite={write} onSave={begin} />
      </Suspense>
    </>
  );
}

interface Written {
  /** What it replaces; nothing where there is no file. */
  readonly base: string | undefined;
  readonly text: string;
}

function useSave(path: string, onSaved: (text: string) => void, onSettled: () => Promise<unknown>) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ base, text }: Written) => tendon.files.save(id, path, text, base),
    onSuccess: (_answer, { text }) => {
      queries.setQueriesData<FileContent>({ queryKey: ['file', id, path] }, { code: text });
      // What was typed meanwhile is a draft on top of it.
      onSaved(text);
    },
    onSettled,
  });
}

function isConflict(error: Error): boolean {
  return error instanceof ApiError && error.status === 409;
}

interface ConflictProps {
  readonly path: string;
  readonly now: string | undefined;
  readonly mine: string;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

function Conflict({ path, now, mine, onMine, onTheirs }: ConflictProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="files-notice" role="alert" data-tone="wait">
      <p>
        <b>
          {now === undefined
            ? t('{{path}} was removed while you were editing.', { path: fileName(path) })
            : t('{{path}} changed while you were editing.', { path: fileName(path) })}
        </b>{' '}
        {t('The agent or a program did it. Nothing of yours was saved.')}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button small look="line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('Show the difference')}
        </Button>
        <Button small look="line" onClick={onMine}>
          {now === undefined ? t('Save mine as a new file') : t('Save mine over it')}
        </Button>
        <Button small look="line" title={t('Undo brings yours back')} onClick={onTheirs}>
          {now === undefined ? t('Leave it removed') : t('Take what is there now')}
        </Button>
      </div>
      {isOpen && (
        <div className="files-difference scroll">
          <DiffTable diff={lineDiff(now ?? '', mine)} path={path} isNew={false} />
        </div>
      )}
    </div>
  );
}
