import { actions } from '@tendon/client';
import { canRequest } from '@tendon/protocol';
import { useConversation } from '../../conversation/conversation-context.ts';
import { cx } from '../../ui/cx.ts';
import { Button } from '../../ui/button.tsx';
import { Well } from '../../code/well.tsx';

/** What an error means, and the remedy first: going on, while that is possible. */
export function RetryRemedy(props: { readonly rest: string; readonly whole: string; readonly errorId: string }) {
  const { rest, whole, errorId } = props;
  const { connection, snapshot, isWatched } = useConversation();
  const state = snapshot.state.agentState;
  const canRetry = !isWatched && state === 'error' && canRequest(state, 'running');
  return (
    <>
      {rest && <p className="-mt-1 pb-1.5 text-ink-2">{rest}</p>}
      <div className="remedy">
        {canRetry && (
          <Button look="line" onClick={() => connection.send(actions.resume())}>
            Try again
          </Button>
        )}
        <details className="min-w-0 flex-1">
          <summary className={cx('button w-fit', !canRetry && '-ml-2.5')}>Details</summary>
          <div className="pt-1">
            <Well text={[errorId, whole].filter(Boolean).join('\n')} />
          </div>
        </details>
      </div>
    </>
  );
}
