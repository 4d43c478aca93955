import { useQuery } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import { useState } from 'react';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import type { ChosenRepository } from './repository-choice.tsx';
import { Link } from '../../ui/link.tsx';
import { t } from '../../lib/language/text.ts';

interface RepositoryPickerProps {
  readonly chosen: ChosenRepository | undefined;
  readonly onChoose: (chosen: ChosenRepository | undefined) => void;
}

/** Repositories of the connected git accounts, then the branches of the chosen one. */
export function RepositoryPicker({ chosen, onChoose }: RepositoryPickerProps) {
  const [repository, setRepository] = useState(chosen);
  if (repository) {
    return <BranchStep repository={repository} onBack={() => setRepository(undefined)} onChoose={onChoose} />;
  }
  return <RepositoryStep onChoose={(name, provider) => setRepository({ name, branch: '', ...(provider && { provider }) })} />;
}

const NAME = /^[\w.-]+(\/[\w.-]+)+$/;

function RepositoryStep({ onChoose }: { readonly onChoose: (name: string, provider?: string) => void }) {
  const [text, setText] = useState('');
  const query = text.trim();
  const found = useQuery({
    queryKey: ['repositories', query],
    queryFn: ({ signal }) => (query === '' ? tendon.git.repositories({ signal }) : tendon.git.searchRepositories(query, { signal })),
    retry: false,
    staleTime: 60_000,
  });
  const names = found.data ?? [];
  const isNew = NAME.test(query) && !names.some(({ full_name: name }) => name === query);
  return (
    <div className="flex w-80 max-w-full flex-col gap-2 p-2">
      <input
        className="field w-full flex-none"
        type="search"
        aria-label={t('Search repositories')}
        placeholder={t('Search, or write owner/name')}
        value={text}
        ref={focusOnMount}
        onChange={(event) => setText(event.target.value)}
      />
      {found.isPending && <Late>{t('Asking the git providers')}</Late>}
      {found.error && <Problem error={found.error} />}
      {found.isSuccess && names.length === 0 && !isNew && <p className="text-ink-2">{t('No repository has this name.')}</p>}
      <ul aria-label={t('Repositories')} className="scroll max-h-72 overflow-auto">
        {names.map(({ full_name: name, git_provider: provider }) => (
          <li key={`${provider} ${name}`}>
            <Button className="w-full justify-start" onClick={() => onChoose(name, provider)}>
              <span className="truncate">{name}</span>
            </Button>
          </li>
        ))}
        {isNew && (
          <li>
            <Button className="w-full justify-start" onClick={() => onChoose(query)}>
              <span className="truncate">{t('Use {{name}}', { name: query })}</span>
            </Button>
          </li>
        )}
      </ul>
    </div>
  );
}

/** Without a git account there is a way to one. */
function Problem({ error }: { readonly error: Error }) {
  if (error instanceof ApiError && error.status === 401) {
    return (
      <p className="text-ink-2">
        {t('No git account is connected, so only public repositories can be cloned, by their name.')}{' '}
        <Link to={paths.settingsPage('git')}>{t('Connect one')}</Link>
      </p>
    );
  }
  return (
    <p role="alert" className="text-bad">
      {error.message}
    </p>
  );
}

interface BranchStepProps {
  readonly repository: ChosenRepository;
  readonly onBack: () => void;
  readonly onChoose: (chosen: ChosenRepository | undefined) => void;
}

function BranchStep({ repository, onBack, onChoose }: BranchStepProps) {
  const [branch, setBranch] = useState(repository.branch);
  const branches = useQuery({
    queryKey: ['branches', repository.name],
    queryFn: ({ signal }) => tendon.git.branches(repository.name, { signal }),
    retry: false,
    staleTime: 60_000,
  });
  return (
    <form
      className="flex w-80 max-w-full flex-col gap-2 p-2"
      onSubmit={(event) => {
        event.preventDefault();
        onChoose({ ...repository, branch: branch.trim() });
      }}
    >
      <p className="truncate font-medium">{repository.name}</p>
      <label className="flex flex-col gap-1">
        {t('Branch')}
        <input
          className="field w-full flex-none"
          list="branches"
          placeholder={t('The usual one')}
          value={branch}
          ref={focusOnMount}
          onChange={(event) => setBranch(event.target.value)}
        />
      </label>
      <datalist id="branches">
        {branches.data?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p className="text-small text-ink-3">{t('It is cloned into the sandbox. Empty: a new branch beside the usual one.')}</p>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="line">
          {t('Use this repository')}
        </Button>
        <Button onClick={onBack}>{t('Another one')}</Button>
        <Button onClick={() => onChoose(undefined)}>{t('None')}</Button>
      </div>
    </form>
  );
}
