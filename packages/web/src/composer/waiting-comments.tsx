import { useConversationActs } from '../conversation/open-conversation.ts';
import { reviewComments, useReviewComments } from '../conversation/review-comments.ts';
import { Button } from '../ui/button.tsx';
import { t } from '../lib/language/text.ts';

/** What goes with the message beside what is written in it. */
export function WaitingComments() {
  const { id } = useConversationActs();
  const comments = useReviewComments(id);
  if (comments.length === 0) return undefined;
  return (
    <div
      className="flex flex-wrap items-center gap-2 px-3.5 pt-2 text-small text-ink-2"
      role="group"
      aria-label={t('Comments on the changes')}
    >
      <span>{t('{{count}} comments on the changes with this message', { count: comments.length })}</span>
      <Button small onClick={() => reviewComments.remove(id, ...comments)}>
        {t('Remove')}
      </Button>
    </div>
  );
}
