import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreatedShare, ShareInfo } from '@tendon/protocol';
import { useState } from 'react';
import { ago, dayAndClock } from '../../copy/figures.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { t, textKey } from '../../lib/language/text.ts';

const DAY_SECONDS = 86_400;
const LIFETIMES = [
  [DAY_SECONDS, textKey('a day')],
  [7 * DAY_SECONDS, textKey('a week')],
  [30 * DAY_SECONDS, textKey('30 days')],
] as const;

/** Links that show this conversation to others: made, listed and revoked. */
export function Shares({ id }: { readonly id: string }) {
  const queries = useQueryClient();
  const queryKey = ['shares', id];
  const shares = useQuery({ queryKey, queryFn: () => tendon.shares.list(id), retry: false });
  const [seconds, setSeconds] = useState<number>(7 * DAY_SECONDS);
  const renew = () => queries.invalidateQueries({ queryKey });
  const make = useMutation({ mutationFn: () => tendon.shares.create(id, seconds), onSettled: renew });
  const revoke = useMutation({ mutationFn: (share: string) => tendon.shares.revoke(id, share), onSettled: renew });
  const problem = shares.error ?? make.error ?? revoke.error;
  return (
    <div className="shares">
      <p>{t('Anyone with a link can watch this conversation live and cannot change it.')}</p>
      <div className="flex items-center gap-2">
        <label className="text-ink-2" htmlFor="share-lifetime">
          {t('Expires in')}
        </label>
        <select
          id="share-lifetime"
          className="field"
          ref={focusOnMount}
          value={seconds}
          onChange={(event) => setSeconds(Number(event.target.value))}
        >
          {LIFETIMES.map(([value, words]) => (
            <option key={value} value={value}>
              {t(words)}
            </option>
          ))}
        </select>
        <Button look="main" onClick={() => make.mutate()}>
          {t('Create link')}
        </Button>
      </div>
      {make.data && make.data.id !== revoke.variables && <NewLink key={make.data.id} share={make.data} />}
      {problem && <p className="tone-bad">{problem.message}</p>}
      {shares.isPending && <Late>{t('Loading links')}</Late>}
      {shares.data && shares.data.length > 0 && (
        <ul aria-label={t('Links')}>
          {shares.data.map((share) => (
            <li key={share.id}>
              <span className="truncate">{linkWords(share)}</span>
              <span className="flex-1" />
              <Button
                small
                look="line"
                aria-label={t('Revoke the link that expires {{time}}', { time: dayAndClock(share.expires_at) })}
                onClick={() => {
                  revoke.mutate(share.id);
                  // This button is about to go.
                  document.getElementById('share-lifetime')?.focus();
                }}
              >
                {t('Revoke')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Its token is known only now. */
function NewLink({ share }: { readonly share: CreatedShare }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(share.url).then(() => setCopied(true));
  return (
    <>
      <div className="flex items-center gap-2">
        <input className="field" aria-label={t('Link')} readOnly value={share.url} ref={(field) => field?.select()} />
        <Button look="line" onClick={copy}>
          {isCopied ? t('Copied') : t('Copy link')}
        </Button>
      </div>
      <p className="text-small text-ink-3">{t('You will not see this link again. Copy it now.')}</p>
    </>
  );
}

function linkWords({ expires_at, last_used_at }: ShareInfo): string {
  const opened = last_used_at === null ? t('not opened yet') : t('last opened {{time}}', { time: ago(last_used_at, Date.now()) });
  return t('Expires {{time}}, {{opened}}', { time: dayAndClock(expires_at), opened });
}
