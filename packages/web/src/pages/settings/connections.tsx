import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { serverInfoQuery, tendon } from '../../lib/server.ts';
import { signOut } from '../../lib/sign-out.ts';
import { stored } from '../../lib/stored.ts';
import { Button } from '../../ui/button.tsx';
import { SettingField } from './setting-form.tsx';
import { t, tx } from '../../lib/language/text.ts';

/** The server of this page, and the addresses of others, each of which has a page of its own. */
export function Connections() {
  const { data: server, error } = useQuery(serverInfoQuery);
  return (
    <>
      <section className="setting" aria-labelledby="connection-heading">
        <h2 id="connection-heading">{t('This server')}</h2>
        <p>
          {tendon.host}
          {server?.version && <span className="text-ink-2">{`, Tendon ${server.version}`}</span>}
          {server?.model && <span className="text-ink-2">{t(', model {{model}}', { model: server.model })}</span>}
        </p>
        {error && (
          <p role="alert" className="tone-bad">
            {error.message}
          </p>
        )}
        <p className="text-small text-ink-3">
          {tx('Its API is described at {{address}}.', { address: <a href="/openapi.json">/openapi.json</a> })}
        </p>
        <span>
          <Button look="line" onClick={() => void signOut()}>
            {t('Sign out in this browser')}
          </Button>
        </span>
      </section>
      <OtherServers />
    </>
  );
}

const NAME = 'servers';

function OtherServers() {
  const [servers, setServers] = useState<readonly string[]>(() => (stored.get(NAME) ?? '').split('\n').filter((one) => one !== ''));
  const [address, setAddress] = useState('');
  const origin = /^https?:\/\//.test(address.trim()) && URL.canParse(address.trim()) ? new URL(address.trim()).origin : undefined;
  const change = (next: readonly string[]) => {
    setServers(next);
    stored.set(NAME, next.length === 0 ? null : next.join('\n'));
  };
  return (
    <section className="setting" aria-labelledby="servers-heading">
      <h2 id="servers-heading">{t('Other servers')}</h2>
      <p className="text-ink-2">{t('Each has its own conversations, settings and key; a link leads to its page.')}</p>
      {servers.length > 0 && (
        <ul aria-label={t('Other servers')}>
          {servers.map((one) => (
            <li key={one}>
              <a href={one}>{one}</a>
              <span className="flex-1" />
              <Button
                small
                look="line"
                aria-label={t('Forget {{one}}', { one })}
                onClick={() => change(servers.filter((other) => other !== one))}
              >
                {t('Forget')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <form
        className="setting-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (origin === undefined) return;
          change([...new Set([...servers, origin])]);
          setAddress('');
        }}
      >
        <SettingField
          label={t('Address')}
          placeholder="http://192.168.1.20:3000"
          value={address}
          onChange={(event) => setAddress(event.target.value)}
        />
        <span>
          <Button type="submit" look="line" disabled={origin === undefined}>
            {t('Add the server')}
          </Button>
        </span>
      </form>
    </section>
  );
}
