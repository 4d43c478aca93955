import { ApiError } from '@tendon/client';
import { useQueryClient } from '@tanstack/react-query';
import { tendon } from '../../lib/tendon.ts';
import { SignIn } from '../sign-in.tsx';
import { stored } from '../../lib/stored.ts';
import { Button } from '../../ui/button.tsx';

/** Why there is no list, and the way on. */
export function ListError({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  const queries = useQueryClient();
  if (error instanceof ApiError && error.status === 401) {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-3 text-ink-2">
        {stored.get('key') === null ? 'This server wants a key.' : 'This server does not accept the key.'}
        <SignIn small={false} onKey={() => void queries.invalidateQueries()} />
      </div>
    );
  }
  return (
    <p role="alert" className="flex items-center gap-2 text-ink-2">
      {error instanceof ApiError && error.status > 0 ? `${tendon.host} answered: ${error.message}.` : `Could not reach ${tendon.host}.`}
      <Button look="line" onClick={onRetry}>
        Try again
      </Button>
    </p>
  );
}
