import { useState } from 'react';
import type { ReviewComment } from '../../conversation/review-comments.ts';
import { Button } from '../../ui/button.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { t } from '../../lib/language/text.ts';

/** What a person has remarked on a line. */
export function WrittenComments(props: {
  readonly comments: readonly ReviewComment[];
  readonly onRemove: (comment: ReviewComment) => void;
}) {
  return props.comments.map((comment) => (
    <div key={comment.text} className="line-comment">
      <p className="text-small text-ink-3">{t('You, to the agent · goes with your next message')}</p>
      <p className="whitespace-pre-wrap">{comment.text}</p>
      <Button small onClick={() => props.onRemove(comment)}>
        {t('Remove comment')}
      </Button>
    </div>
  ));
}

export function CommentForm({ onAdd, onCancel }: { readonly onAdd: (text: string) => void; readonly onCancel: () => void }) {
  const [text, setText] = useState('');
  const add = () => text.trim() !== '' && onAdd(text.trim());
  return (
    <form
      className="line-comment"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <textarea
        className="field"
        aria-label={t('Comment')}
        rows={2}
        ref={focusOnMount}
        maxLength={4000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Escape') onCancel();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            add();
          }
        }}
      />
      <div className="flex gap-2 pt-1">
        <Button type="submit" look="line" small disabled={text.trim() === ''}>
          {t('Add comment')}
        </Button>
        <Button small onClick={onCancel}>
          {t('Cancel')}
        </Button>
      </div>
    </form>
  );
}
