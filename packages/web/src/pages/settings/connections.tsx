import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import { useState } from 'react';
import { navigate } from '../../lib/address.tsx';
import { paths } from '../../lib/paths.ts';
import { homeServer, restOf, serverInfoQuery, serverKey, showServer, tendon } from '../../lib/server.ts';
import { signOut } from '../../lib/sign-out.ts';
import { Button } from '../../ui/button.tsx';
import { SettingField } from './setting-form.tsx';
import { SectionHeading } from './section-heading.tsx';
import { t, tx } from '../../lib/language/text.ts';

/** The server that this page shows, and the others that it can show. */
export function Connections() {
  const { data: server, error } = useQuery(serverInfoQuery);
  return (
    <>
      <section className="setting" aria-labelledby="connection-heading">
        <SectionHeading id="connection-heading" title={t('This server')} />
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
          {tx('Its API is described at {{address}}.', { address: <a href={`${tendon.baseUrl}/openapi.json`}>/openapi.json</a> })}
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

const homeSettings = queryOptions({ queryKey: ['home-settings'], queryFn: ({ signal }) => homeServer.settings.get(signal) });

/** Their addresses are in the settings of the page's own server, which lets its page speak to them; their keys are in this browser. */
function OtherServers() {
  const settings = useQuery(homeSettings);
  const servers = settings.data?.connected_servers ?? [];
  const store = useMutation({
    mutationFn: (next: readonly string[]) => homeServer.settings.patch({ connected_servers: [...next] }),
    // The page has to be reloaded: its content security policy is fixed when it loads.
    onSuccess: () => location.reload(),
  });
  const forget = (one: string) => {
    serverKey.set(one, undefined);
    if (tendon.baseUrl === one) showServer(location.origin);
    store.mutate(servers.filter((other) => other !== one));
  };
  const failed = settings.error ?? store.error;
  return (
    <section className="setting" aria-labelledby="servers-heading">
      <SectionHeading id="servers-heading" title={t('Servers')} />
      <p className="text-ink-2">{t('Each has its own conversations, settings and key. This page shows one at a time.')}</p>
      <ul aria-label={t('Servers')}>
        {[location.origin, ...servers].map((one) => (
          <Server key={one} address={one} onForget={one === location.origin ? undefined : () => forget(one)} />
        ))}
      </ul>
      {failed && (
        <p role="alert" className="tone-bad">
          {failed.message}
        </p>
      )}
      <AddServer isBusy={store.isPending} onAdd={(origin) => store.mutate([...new Set([...servers, origin])])} />
    </section>
  );
}

/** One server, requested with its own key: its description, or why it cannot be used. */
function Server({ address, onForget }: { readonly address: string; readonly onForget: (() => void) | undefined }) {
  const queries = useQueryClient();
  const rest = restOf(address);
  const info = useQuery({
    queryKey: ['server', address],
    queryFn: ({ signal }) => rest.conversations.list({ limit: 1, signal }),
    retry: false,
  });
  const isShown = tendon.baseUrl === rest.baseUrl;
  const use = () => {
    showServer(address);
    queries.clear();
    navigate(paths.home);
  };
  return (
    <li>
      <a href={address}>{rest.host}</a>
      <span className={info.error ? 'text-bad' : 'text-ink-2'}>
        {info.error ? troubleOf(info.error, rest.host) : info.data && t('Connected')}
      </span>
      <span className="flex-1" />
      {isShown ? (
        <span className="text-ink-2">{t('Shown on this page')}</span>
      ) : (
        <Button small look="line" aria-label={t('Show {{one}}', { one: rest.host })} disabled={!info.data} onClick={use}>
          {t('Show')}
        </Button>
      )}
      {onForget && (
        <Button small look="line" aria-label={t('Forget {{one}}', { one: rest.host })} onClick={onForget}>
          {t('Forget')}
        </Button>
      )}
    </li>
  );
}

/** Browsers hide from a page why a request to another server failed. */
function troubleOf(error: Error, host: string): string {
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return t('{{host}} does not accept the key.', { host });
  if (error instanceof ApiError && error.status > 0) return t('{{host}} answered: {{message}}.', { host, message: error.message });
  return t('{{host}} does not answer, or does not allow this page: set PERMITTED_CORS_ORIGINS={{origin}} where it runs.', {
    host,
    origin: location.origin,
  });
}

function AddServer({ isBusy, onAdd }: { readonly isBusy: boolean; readonly onAdd: (origin: string) => void }) {
  const [address, setAddress] = useState('');
  const [key, setKey] = useState('');
  const origin = originOf(address.trim());
  return (
    <form
      className="setting-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (origin === undefined || isBusy) return;
        if (key.trim() !== '') serverKey.set(origin, key.trim());
        onAdd(origin);
      }}
    >
      <SettingField
        label={t('Address')}
        placeholder="http://192.168.1.20:3000"
        value={address}
        onChange={(event) => setAddress(event.target.value)}
      />
      <SettingField
        label={t('Key of that server')}
        type="password"
        autoComplete="off"
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <span>
        <Button type="submit" look="line" disabled={origin === undefined} isBusy={isBusy}>
          {t('Add the server')}
        </Button>
      </span>
    </form>
  );
}

/** `undefined` if it is not an address, or that of this page. */
function originOf(address: string): string | undefined {
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) return undefined;
  const { origin } = new URL(address);
  return origin === location.origin ? undefined : origin;
}
