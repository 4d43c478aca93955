import { useMutation } from '@tanstack/react-query';
import type { WorkspaceRepository } from '@tendon/protocol';
import { useState } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { useLookAgain } from './use-review.ts';
import { Link } from '../../ui/link.tsx';
import { t, tx } from '../../lib/language/text.ts';

interface PullRequestFormProps {
  readonly repository: WorkspaceRepository;
  readonly remote: NonNullable<WorkspaceRepository['remote']>;
}

const NAMES = { github: 'GitHub', gitlab: 'GitLab', bitbucket: 'Bitbucket' } as const;

/** Pushes the branch and opens a pull request, where there is a branch and a token for it. */
export function PullRequestForm(props: PullRequestFormProps) {
  const { repository, remote } = props;
  if (!remote.has_token) {
    return (
      <p className="review-row">
        {t('There is no token for {{provider}}.', { provider: NAMES[remote.provider] })}{' '}
        <Link to={paths.settings}>{t('Store one in the settings')}</Link>
      </p>
    );
  }
  const { branch, default_branch: main } = repository;
  if (branch === null || branch === main)
    return <p className="review-row">{t('Make a branch first: this is {{branch}}.', { branch: branch ?? t('none') })}</p>;
  return <Form {...props} branch={branch} />;
}

/** Which repository, from where to where, is shown before. */
function Form({ repository: { default_branch: main, branches }, remote, branch }: PullRequestFormProps & { readonly branch: string }) {
  const { id } = useConversationActs();
  const targets = branches.filter((name) => name !== branch);
  const [title, setTitle] = useState('');
  const [target, setTarget] = useState(main ?? targets[0] ?? 'main');
  const [isDraft, setDraft] = useState(false);
  const lookAgain = useLookAgain();
  const open = useMutation({
    mutationFn: () => tendon.review.openPullRequest(id, { repository: remote.repository, target, title, draft: isDraft }),
    onSettled: lookAgain,
  });
  if (open.data) {
    return (
      <p className="review-row" role="status">
        <a href={open.data.url} target="_blank" rel="noreferrer">
          {open.data.url}
        </a>
      </p>
    );
  }
  return (
    <form
      className="review-row"
      aria-label={t('Pull request')}
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== '' && !open.isPending) open.mutate();
      }}
    >
      <p className="w-full text-ink-2">
        {tx('Pushes {{branch}} to {{repository}} on {{provider}}: its commits are visible to everyone who can read it.', {
          branch: <span className="mono">{branch}</span>,
          repository: remote.repository,
          provider: NAMES[remote.provider],
        })}
      </p>
      <input
        className="field flex-1"
        aria-label={t('Title')}
        placeholder={t('Title')}
        maxLength={255}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      <TargetBranch value={target} targets={targets} onChange={setTarget} />
      <label className="flex items-center gap-1">
        <input type="checkbox" checked={isDraft} onChange={(event) => setDraft(event.currentTarget.checked)} />
        {t('Draft')}
      </label>
      <Button type="submit" look="line" disabled={title.trim() === ''}>
        {open.isPending ? t('Pushing') : t('Push and open')}
      </Button>
      {open.error && (
        <p role="alert" className="w-full tone-bad whitespace-pre-wrap">
          {open.error.message}
        </p>
      )}
    </form>
  );
}

interface TargetBranchProps {
  readonly value: string;
  readonly targets: readonly string[];
  readonly onChange: (target: string) => void;
}

function TargetBranch({ value, targets, onChange }: TargetBranchProps) {
  return (
    <label className="against">
      <span className="text-ink-3">{t('into')}</span>
      <select className="field" aria-label={t('Into the branch')} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {[...new Set([value, ...targets])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
