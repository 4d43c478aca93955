import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreatedKey, CreateKey } from '@tendon/protocol';
import { useState } from 'react';
import { ago, dayAndClock } from '../../copy/figures.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { ListSection } from './list-section.tsx';
import { OwnData } from './own-data.tsx';
import { SettingField } from './setting-form.tsx';
import { type PlainText, t, textKey, tx } from '../../lib/language/text.ts';

const queryKey = ['keys'];

const SCOPES: Readonly<Record<CreateKey['scope'], PlainText>> = {
  read: textKey('may look'),
  drive: textKey('may work with agents'),
  admin: textKey('may do everything'),
};

/** Keys for people and programs, each with what it may do. */
export function KeySettings() {
  const queries = useQueryClient();
  const keys = useQuery({ queryKey, queryFn: tendon.keys.list, retry: false });
  const revoke = useMutation({ mutationFn: tendon.keys.revoke, onSettled: () => queries.invalidateQueries({ queryKey }) });
  return (
    <ListSection
      title={t('API keys')}
      about={t('For other people, browsers and programs. A key that is revoked ends what it opened.')}
      list={keys}
      none={t('No key was made. The one that the server was started with is not in this list.')}
      problem={revoke.error}
      after={
        <>
          <KeyForm />
          <OwnData />
        </>
      }
    >
      {({ id, name, scope, expires_at: ends, last_used_at: used }) => (
        <li key={id}>
          <span className="truncate">{name}</span>
          <span className="text-small text-ink-3">
            {t(SCOPES[scope])}, {used ? t('last used {{used}}', { used: ago(used, Date.now()) }) : t('not used yet')}
            {ends && t(', ends {{time}}', { time: dayAndClock(ends) })}
          </span>
          <span className="flex-1" />
          <Button small look="line" aria-label={t('Revoke the key {{name}}', { name })} onClick={() => revoke.mutate(id)}>
            {t('Revoke')}
          </Button>
        </li>
      )}
    </ListSection>
  );
}

const DAY = 86_400;
const ENDS: readonly (readonly [number, PlainText])[] = [
  [0, textKey('when it is revoked')],
  [DAY, textKey('after a day')],
  [30 * DAY, textKey('after 30 days')],
  [365 * DAY, textKey('after a year')],
];

function KeyForm() {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<CreateKey['scope']>('drive');
  const [seconds, setSeconds] = useState(0);
  const make = useMutation({
    mutationFn: (named: string) => tendon.keys.create({ name: named.trim(), scope, ...(seconds > 0 && { expires_in: seconds }) }),
    onSuccess: (_made, named) => setName((now) => (now === named ? '' : now)),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <form
      className="setting-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '' && !make.isPending) make.mutate(name);
      }}
    >
      <SettingField
        label={t('Name')}
        placeholder={t('build server')}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <label className="flex flex-col gap-1">
        {t('What it may do')}
        <select className="field w-full flex-none" value={scope} onChange={(event) => setScope(event.target.value as CreateKey['scope'])}>
          {Object.entries(SCOPES).map(([value, words]) => (
            <option key={value} value={value}>
              {t(words)}
            </option>
          ))}
        </select>
      </label>
      <label className="flex flex-col gap-1">
        {t('Expires')}
        <select className="field w-full flex-none" value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
          {ENDS.map(([value, words]) => (
            <option key={value} value={value}>
              {t(words)}
            </option>
          ))}
        </select>
      </label>
      <span>
        <Button type="submit" look="line" disabled={name.trim() === ''} isBusy={make.isPending}>
          {t('Create key')}
        </Button>
      </span>
      {make.data && <NewKey made={make.data} />}
      {make.error && (
        <p role="alert" className="tone-bad">
          {make.error.message}
        </p>
      )}
    </form>
  );
}

function NewKey({ made: { name, key } }: { readonly made: CreatedKey }) {
  return (
    <p role="status">
      {tx('The key of {{name}} is shown this once: {{key}}', { name, key: <code className="select-all break-all">{key}</code> })}{' '}
      <Button small look="line" onClick={() => void navigator.clipboard.writeText(key)}>
        {t('Copy the key')}
      </Button>
    </p>
  );
}
