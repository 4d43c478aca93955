import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, type SecretOwner } from '@tendon/client';
import type { WhoAmI } from '@tendon/protocol';
import { useState } from 'react';
import { tendon } from '../../lib/server.ts';
import { whoAmIQuery } from '../../lib/who-am-i.ts';
import { Button } from '../../ui/button.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { namesIn } from './setting-form.tsx';
import { SectionHeading } from './section-heading.tsx';
import { t } from '../../lib/language/text.ts';

const keyOf = (owner: SecretOwner | undefined) => ['secrets', owner];

interface Owned {
  readonly owner: SecretOwner | undefined;
}

/** Named secrets with the hosts that they may go to; their values are never shown. Hidden from keys that may not see them. */
export function SecretsSection() {
  const queries = useQueryClient();
  const { data: me } = useQuery(whoAmIQuery);
  const [owner, setOwner] = useState<SecretOwner>();
  const queryKey = keyOf(owner);
  const secrets = useQuery({ queryKey, queryFn: () => tendon.secrets.list(owner), retry: false });
  const remove = useMutation({
    mutationFn: (name: string) => tendon.secrets.remove(name, owner),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (secrets.error instanceof ApiError && secrets.error.status === 403) return null;
  const problem = secrets.error ?? remove.error;
  return (
    <section className="setting" aria-labelledby="secrets-heading">
      <SectionHeading id="secrets-heading" title={t('Secrets')} />
      <p className="text-ink-2">
        {t('A command is given a secret when it names its variable. With hosts, a command that names another one asks you first.')}
      </p>
      {me?.user && <OwnerChoice me={me} owner={owner ?? 'own'} onChoose={setOwner} />}
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
              <SecretHosts name={name} hosts={hosts} owner={owner} />
              <Button small look="line" aria-label={t('Delete the secret {{name}}', { name })} onClick={() => remove.mutate(name)}>
                {t('Delete')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <SecretForm owner={owner} />
    </section>
  );
}

interface OwnerChoiceProps {
  readonly me: WhoAmI;
  readonly owner: SecretOwner;
  readonly onChoose: (owner: SecretOwner) => void;
}

/** Chooses the owner. Only admins can choose their organisation or the server. */
function OwnerChoice({ me: { organisation, scope, administers_server: administers }, owner, onChoose }: OwnerChoiceProps) {
  return (
    <select className="field" aria-label={t('For whom')} value={owner} onChange={(event) => onChoose(event.target.value as SecretOwner)}>
      <option value="own">{t('Conversations that you begin')}</option>
      {scope === 'admin' && (
        <option value="organisation">{t('Everybody in {{organisation}}', { organisation: organisation?.name ?? '' })}</option>
      )}
      {administers && <option value="server">{t('Everybody on this server')}</option>}
    </select>
  );
}

/** Edits in place the hosts that the secret may go to; its value stays. */
function SecretHosts({ name, hosts, owner }: Owned & { readonly name: string; readonly hosts: readonly string[] }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<string>();
  const change = useMutation({
    mutationFn: (text: string) => tendon.secrets.update({ name, hosts: namesIn(text) }, owner),
    onSuccess: (_answer, sent) => setDraft((now) => (now === sent ? undefined : now)),
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf(owner) }),
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
      <Button type="submit" small look="line" isBusy={change.isPending}>
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

function SecretForm({ owner }: Owned) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(EMPTY);
  const create = useMutation({
    mutationFn: ({ name, value, hosts }: typeof EMPTY) => tendon.secrets.create({ name: name.trim(), value, hosts: namesIn(hosts) }, owner),
    onSuccess: (_answer, sent) => setDraft((now) => (now === sent ? EMPTY : now)),
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf(owner) }),
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
        <Button type="submit" look="line" disabled={!isWhole} isBusy={create.isPending}>
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
