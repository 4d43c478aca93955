import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreatedKey, CreateKey } from '@tendon/protocol';
import { useState } from 'react';
import { ago, dayAndClock } from '../../copy/figures.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { ListSection } from './list-section.tsx';
import { SettingField } from './setting-form.tsx';

const queryKey = ['keys'];

const SCOPES: Readonly<Record<CreateKey['scope'], string>> = {
  read: 'may look',
  drive: 'may work with agents',
  admin: 'may do everything',
};

/** Keys for people and programs, each with what it may do. */
export function KeySettings() {
  const queries = useQueryClient();
  const keys = useQuery({ queryKey, queryFn: tendon.keys.list, retry: false });
  const revoke = useMutation({ mutationFn: tendon.keys.revoke, onSettled: () => queries.invalidateQueries({ queryKey }) });
  return (
    <ListSection
      title="API keys"
      about="For other people, browsers and programs. A key that is revoked ends what it opened."
      list={keys}
      none="No key was made. The one that the server was started with is not in this list."
      problem={revoke.error}
      after={<KeyForm />}
    >
      {({ id, name, scope, expires_at: ends, last_used_at: used }) => (
        <li key={id}>
          <span className="truncate">{name}</span>
          <span className="text-small text-ink-3">
            {SCOPES[scope]}, {used ? `last used ${ago(used, Date.now())}` : 'not used yet'}
            {ends && `, ends ${dayAndClock(ends)}`}
          </span>
          <span className="flex-1" />
          <Button small look="line" aria-label={`Revoke the key ${name}`} onClick={() => revoke.mutate(id)}>
            Revoke
          </Button>
        </li>
      )}
    </ListSection>
  );
}

const DAY = 86_400;
const ENDS: readonly (readonly [number, string])[] = [
  [0, 'when it is revoked'],
  [DAY, 'after a day'],
  [30 * DAY, 'after 30 days'],
  [365 * DAY, 'after a year'],
];

function KeyForm() {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<CreateKey['scope']>('drive');
  const [seconds, setSeconds] = useState(0);
  const make = useMutation({
    mutationFn: () => tendon.keys.create({ name: name.trim(), scope, ...(seconds > 0 && { expires_in: seconds }) }),
    onSuccess: () => setName(''),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <form
      className="setting-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') make.mutate();
      }}
    >
      <SettingField
        label="Name"
        placeholder="build server"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <label className="flex flex-col gap-1">
        What it may do
        <select className="field w-full flex-none" value={scope} onChange={(event) => setScope(event.target.value as CreateKey['scope'])}>
          {Object.entries(SCOPES).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label className="flex flex-col gap-1">
        It ends
        <select className="field w-full flex-none" value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
          {ENDS.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <span>
        <Button type="submit" look="line" disabled={name.trim() === '' || make.isPending}>
          Make a key
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
      The key of {name} is shown this once: <code className="select-all break-all">{key}</code>{' '}
      <Button small look="line" onClick={() => void navigator.clipboard.writeText(key)}>
        Copy the key
      </Button>
    </p>
  );
}
