import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tendon } from '../../lib/server.ts';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { Button } from '../../ui/button.tsx';
import { SettingField, SettingForm, SettingSection } from './setting-form.tsx';
import { t } from '../../lib/language/text.ts';

const PROVIDERS: Readonly<Record<string, string>> = { github: 'GitHub', gitlab: 'GitLab', bitbucket: 'Bitbucket' };

/** Tokens of git providers, and the author of commits. */
export function GitAccounts() {
  return (
    <>
      <SettingSection
        title={t('Accounts')}
        about={t(
          'Repositories are cloned and pull requests opened with them. A token is stored only when its provider accepts it, and never comes back.',
        )}
      >
        {({ provider_tokens_set: connected = {} }) => (
          <>
            <Connected accounts={connected} />
            <ConnectForm />
          </>
        )}
      </SettingSection>
      <SettingSection title={t('Who commits')} about={t('In sandboxes that know no name of their own.')}>
        {({ git_user_name: name, git_user_email: email }) => <CommitterForm name={name ?? ''} email={email ?? ''} />}
      </SettingSection>
    </>
  );
}

function Connected({ accounts }: { readonly accounts: Readonly<Record<string, string | null>> }) {
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const end = useMutation({
    mutationFn: tendon.git.disconnect,
    onSettled: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  const names = Object.entries(accounts);
  if (names.length === 0) return <p className="text-ink-2">{t('No account is connected: only public repositories can be cloned.')}</p>;
  return (
    <>
      <ul aria-label={t('Accounts')}>
        {names.map(([provider, host]) => (
          <li key={provider}>
            <span>{PROVIDERS[provider] ?? provider}</span>
            <span className="text-small text-ink-3">{host ?? t('its usual address')}</span>
          </li>
        ))}
      </ul>
      <span>
        <Button look="line" onClick={isAsked ? () => end.mutate() : () => setAsked(true)} onBlur={() => setAsked(false)}>
          {isAsked ? t('Remove all tokens for good') : t('Remove all tokens')}
        </Button>
      </span>
    </>
  );
}

function ConnectForm() {
  const queries = useQueryClient();
  const [provider, setProvider] = useState('github');
  const [token, setToken] = useState('');
  const [host, setHost] = useState('');
  const connect = useMutation({
    mutationFn: (sent: string) => tendon.git.connect(provider, sent.trim(), host.trim()),
    onSuccess: (_answer, sent) => setToken((now) => (now === sent ? '' : now)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  return (
    <form
      className="setting-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== '' && !connect.isPending) connect.mutate(token);
      }}
    >
      <label className="flex flex-col gap-1">
        {t('Provider')}
        <select className="field w-full flex-none" value={provider} onChange={(event) => setProvider(event.target.value)}>
          {Object.entries(PROVIDERS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <SettingField
        label={t('Token')}
        type="password"
        autoComplete="off"
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <SettingField
        label={t('Host, if it is not the provider’s own')}
        placeholder="git.example.com"
        value={host}
        onChange={(event) => setHost(event.target.value)}
      />
      <div className="flex items-center gap-2">
        <Button type="submit" look="line" disabled={token.trim() === ''} isBusy={connect.isPending}>
          {connect.isPending ? t('Asking the provider') : t('Connect')}
        </Button>
        <span role="status" className="text-small text-ink-2">
          {connect.isSuccess && t('The provider accepts the token')}
        </span>
      </div>
      {connect.error && (
        <p role="alert" className="tone-bad">
          {connect.error.message}
        </p>
      )}
    </form>
  );
}

function CommitterForm(stored: { readonly name: string; readonly email: string }) {
  const draft = useFormDraft(stored);
  const { name, email } = draft.shown;
  return (
    <SettingForm draft={draft} changes={{ git_user_name: name.trim(), git_user_email: email.trim() }}>
      <SettingField label={t('Name')} value={name} onChange={(event) => draft.write({ name: event.target.value })} />
      <SettingField label={t('E-mail')} type="email" value={email} onChange={(event) => draft.write({ email: event.target.value })} />
    </SettingForm>
  );
}
