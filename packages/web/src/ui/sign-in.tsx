import { useState } from 'react';
import { serverKey, tendon } from '../lib/server.ts';
import { hasSignedIn } from '../lib/who-am-i.ts';
import { Button } from './button.tsx';
import { t } from '../lib/language/text.ts';

/** Asks for the key of a server that wants one; it is stored in this browser. */
export function SignIn({ onKey }: { readonly onKey: () => void }) {
  const [key, setKey] = useState('');
  return (
    <form
      className="flex items-center gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        serverKey.set(tendon.baseUrl, key.trim() || undefined);
        onKey();
      }}
    >
      <input
        className="field"
        type="password"
        autoComplete="current-password"
        aria-label={t('Key of this server')}
        placeholder={t('Key')}
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <Button type="submit" look="line">
        {t('Sign in')}
      </Button>
      {hasSignedIn() && <a href={`/login/oidc?next=${encodeURIComponent(location.pathname)}`}>{t('Sign in with your account')}</a>}
    </form>
  );
}
