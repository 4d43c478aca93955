import { useConversation } from '../conversation/open-conversation.ts';
import { reviewComments, useReviewComments } from '../conversation/review-comments.ts';
import { count } from '../copy/figures.ts';
import { Button } from '../ui/button.tsx';

/** What goes with the message beside what is written in it. */
export function WaitingComments() {
  const { id } = useConversation();
  const comments = useReviewComments(id);
  if (comments.length === 0) return undefined;
  return (
    <div className="flex flex-wrap items-center gap-2 px-3.5 pt-2 text-small text-ink-2" role="group" aria-label="Comments on the changes">
      <span>{count(comments.length, 'comment')} on the changes with this message</span>
      <Button small onClick={() => reviewComments.clear(id)}>
        Remove
      </Button>
    </div>
  );
}
