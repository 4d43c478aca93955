import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import type { ChangedFile, FileVersions } from '@tendon/protocol';
import { useMemo, useState } from 'react';
import type { Hunk } from '../../code/hunks.ts';
import { type DiffLine, lineDiff } from '../../code/line-diff.ts';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { reviewComments, useReviewComments } from '../../conversation/review-comments.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { CommentForm, WrittenComments } from './line-comments.tsx';
import { ReviewDiff } from './review-diff.tsx';
import { LineCounts } from './file-list.tsx';
import { t, textKey } from '../../lib/language/text.ts';

export interface Reverted {
  readonly path: string;
  readonly words: string;
  readonly undo: { readonly checkpoint: number; readonly paths: readonly string[] } | null;
}

interface FileReviewProps {
  readonly file: ChangedFile;
  readonly against: string;
  /** Of the list: when it is looked up again, so is the file. */
  readonly revision: number;
  readonly isSideBySide: boolean;
  readonly isSeen: boolean;
  readonly canAct: boolean;
  readonly onSeen: (isSeen: boolean) => void;
  readonly onReverted: (reverted: Reverted) => void;
}

const STATUS = { A: textKey('new'), M: textKey('changed'), D: textKey('deleted'), U: textKey('in conflict') } as const;

/** One file: what changed in it, what a person says to that, and the way back. */
export function FileReview(props: FileReviewProps) {
  const { file, against, revision, canAct, isSeen, onSeen } = props;
  const { id } = useConversationActs();
  const versions = useQuery({
    queryKey: ['changes', id, 'file', against, file.path, revision],
    queryFn: async () => ({ ...(await tendon.review.file(id, file.path, { against })), against }),
    // A remark that is being written stays while the file is looked up again.
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const revert = useRevert(props, versions.data);
  return (
    <section aria-label={file.path} className="file-review">
      <div className="file-head">
        <span className="mono truncate" title={file.path}>
          {file.path}
        </span>
        {file.status !== 'M' && (
          <span className="chip" data-tone={file.status === 'A' ? 'ok' : 'bad'}>
            {t(STATUS[file.status])}
          </span>
        )}
        <LineCounts {...file} />
        <span className="flex-1" />
        <label className="flex items-center gap-1 text-ink-2">
          <input type="checkbox" checked={isSeen} onChange={(event) => onSeen(event.currentTarget.checked)} />
          {t('Seen')}
        </label>
        {canAct && (
          <Button small isBusy={revert.isPending} onClick={() => revert.mutate(undefined)}>
            {t('Revert file')}
          </Button>
        )}
      </div>
      {revert.error && (
        <p role="alert" className="p-3 tone-bad">
          {revert.error.message}
        </p>
      )}
      {versions.isPending && (
        <div className="p-3">
          <Late>{t('Comparing {{path}}', { path: file.path })}</Late>
        </div>
      )}
      {versions.error && <p className="p-3 text-ink-2">{versions.error.message}.</p>}
      {versions.data && <Difference {...props} versions={versions.data} onRevert={canAct ? (hunk) => revert.mutate(hunk) : undefined} />}
    </section>
  );
}

/** What is shown, also while another base is being looked up: a hunk of one base is not one of another. */
function useRevert({ file: { path }, against, onReverted }: FileReviewProps, shown: (FileVersions & { against: string }) | undefined) {
  const { id } = useConversationActs();
  return useMutation({
    mutationFn: (hunk: Hunk | undefined) => {
      const span = hunk && { hunk: { old: hunk.old, new: hunk.new } };
      return tendon.review.revert(id, { path, against: shown?.against ?? against, ...(shown && { version: shown.version }), ...span });
    },
    onSuccess: ({ undo }, hunk) =>
      onReverted({ path, undo, words: hunk ? t('One hunk of {{path}} was reverted.', { path }) : t('{{path}} was reverted.', { path }) }),
  });
}

interface DifferenceProps extends FileReviewProps {
  readonly versions: FileVersions;
  readonly onRevert: ((hunk: Hunk) => void) | undefined;
}

function Difference({ file, versions: { original, modified }, isSideBySide, canAct, onRevert }: DifferenceProps) {
  const { id } = useConversationActs();
  const comments = useReviewComments(id);
  const [writing, setWriting] = useState<DiffLine>();
  const diff = useMemo(() => lineDiff(original ?? '', modified ?? ''), [original, modified]);
  const own = comments.filter((comment) => comment.path === file.path);
  const below = (line: DiffLine) => {
    const here = own.filter((one) => one.line === (one.isOld ? line.oldNumber : line.newNumber) && one.isOld === (line.line === 'removed'));
    const isWriting = writing !== undefined && writing.oldNumber === line.oldNumber && writing.newNumber === line.newNumber;
    if (here.length === 0 && !isWriting) return null;
    return (
      <>
        <WrittenComments comments={here} onRemove={(comment) => reviewComments.remove(id, comment)} />
        {isWriting && (
          <CommentForm
            onCancel={() => setWriting(undefined)}
            onAdd={(text) => {
              const isOld = line.line === 'removed';
              reviewComments.add(id, { path: file.path, line: (isOld ? line.oldNumber : line.newNumber)!, isOld, quote: line.text, text });
              setWriting(undefined);
            }}
          />
        )}
      </>
    );
  };
  if (diff.rows.length === 0 && !diff.isCut) return <p className="p-3 text-ink-2">{emptyWords(original, modified)}</p>;
  return (
    <ReviewDiff
      {...{ diff, isSideBySide, onRevert, below }}
      path={file.path}
      isNew={original === null}
      onComment={canAct ? setWriting : undefined}
    />
  );
}

function emptyWords(original: string | null, modified: string | null): string {
  if (original === null) return t('The file is new and empty.');
  return modified === null
    ? t('The file was empty and is deleted.')
    : t('The text is the same; something else changed, such as the rights of the file.');
}
