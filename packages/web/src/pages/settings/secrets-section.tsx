import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import { useState } from 'react';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { namesIn } from './setting-form.tsx';
import { t } from '../../lib/language/text.ts';

const queryKey = ['secrets'];

/** Named secrets with the hosts that they may go to; their values are never shown. Nothing is shown for keys that may not see them. */
export function SecretsSection() {
  const queries = useQueryClient();
  const secrets = useQuery({ queryKey, queryFn: tendon.secrets.list, retry: false });
  const remove = useMutation({ mutationFn: tendon.secrets.remove, onSettled: () => queries.invalidateQueries({ queryKey }) });
  if (secrets.error instanceof ApiError && secrets.error.status === 403) return null;
  const problem = secrets.error ?? remove.error;
  return (
    <section className="setting" aria-labelledby="secrets-heading">
      <h2 id="secrets-heading">{t('Secrets')}</h2>
      <p className="text-ink-2">
        {t('A command is given a secret when it names its variable. With hosts, a command that names another one asks you first.')}
      </p>
      {problem && (
        <p role="alert" className="tone-bad">
          {problem.message}
        </p>
      )}
      {secrets.data && secrets.data.length > 0 && (
        <ul aria-label={t('Secrets')}>
          {secrets.data.map(({ name, hosts = [] }) => (
            <li key={name}>
              <code className="truncate">{name}</code>
              <SecretHosts name={name} hosts={hosts} />
              <Button small look="line" aria-label={t('Delete the secret {{name}}', { name })} onClick={() => remove.mutate(name)}>
                {t('Delete')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <SecretForm />
    </section>
  );
}

/** The hosts that it may go to, changed where they stand; its value stays. */
function SecretHosts({ name, hosts }: { readonly name: string; readonly hosts: readonly string[] }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<string>();
  const change = useMutation({
    mutationFn: (text: string) => tendon.secrets.update({ name, hosts: namesIn(text) }),
    onSuccess: (_answer, sent) => setDraft((now) => (now === sent ? undefined : now)),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (draft === undefined) {
    return (
      <>
        <span className="truncate text-small text-ink-3">
          {hosts.length === 0 ? t('for any host') : t('for {{hosts}}', { hosts: hosts.join(', ') })}
        </span>
        <span className="flex-1" />
        <Button small look="line" aria-label={t('Change the hosts of {{name}}', { name })} onClick={() => setDraft(hosts.join(', '))}>
          {t('Change hosts')}
        </Button>
      </>
    );
  }
  return (
    <form
      className="flex flex-1 flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!change.isPending) change.mutate(draft);
      }}
    >
      <input
        className="field flex-1"
        aria-label={t('Hosts of {{name}}, separated by commas; empty: any', { name })}
        value={draft}
        ref={focusOnMount}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && setDraft(undefined)}
      />
      <Button type="submit" small look="line" disabled={change.isPending}>
        {t('Store the hosts')}
      </Button>
      {change.error && (
        <span role="alert" className="tone-bad">
          {change.error.message}
        </span>
      )}
    </form>
  );
}

const EMPTY = { name: '', value: '', hosts: '' };

function SecretForm() {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(EMPTY);
  const create = useMutation({
    mutationFn: ({ name, value, hosts }: typeof EMPTY) => tendon.secrets.create({ name: name.trim(), value, hosts: namesIn(hosts) }),
    onSuccess: (_answer, sent) => setDraft((now) => (now === sent ? EMPTY : now)),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  const field = (key: keyof typeof EMPTY, label: string, type = 'text') => (
    <input
      className="field w-full"
      type={type}
      autoComplete="off"
      aria-label={label}
      placeholder={label}
      value={draft[key]}
      onChange={(event) => setDraft({ ...draft, [key]: event.target.value })}
    />
  );
  const isWhole = draft.name.trim() !== '' && draft.value !== '';
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (isWhole && !create.isPending) create.mutate(draft);
      }}
    >
      {field('name', t('Name of the variable'))}
      {field('value', t('Value'), 'password')}
      {field('hosts', t('Hosts, separated by commas; empty: any'))}
      <span>
        <Button type="submit" look="line" disabled={!isWhole || create.isPending}>
          {t('Store the secret')}
        </Button>
      </span>
      {create.error && (
        <p role="alert" className="tone-bad">
          {create.error.message}
        </p>
      )}
    </form>
  );
}
