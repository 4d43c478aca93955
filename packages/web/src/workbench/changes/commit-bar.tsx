import { useMutation } from '@tanstack/react-query';
import type { CommandOutcome, WorkspaceRepository } from '@tendon/protocol';
import { type ReactNode, useState } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { reviewComments, useReviewComments, withComments } from '../../conversation/review-comments.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { PullRequestForm } from './pull-request-form.tsx';
import { useLookAgain } from './use-review.ts';
import { t, tx } from '../../lib/language/text.ts';

/** What becomes of the changes: remarks for the agent, a commit, a branch, a pull request. */
export function CommitBar({ repository }: { readonly repository: WorkspaceRepository | undefined }) {
  return (
    <div className="review-footer">
      <CommentsToSend />
      {repository && <RepositoryBar repository={repository} />}
    </div>
  );
}

function CommentsToSend() {
  const { id, connection } = useConversationActs();
  const comments = useReviewComments(id);
  if (comments.length === 0) return null;
  return (
    <div className="review-row">
      <span>{t('{{count}} comments · with your next message', { count: comments.length })}</span>
      <span className="flex-1" />
      <Button
        look="line"
        onClick={() => {
          if (connection.say(withComments('', comments))) reviewComments.remove(id, ...comments);
        }}
      >
        {t('Send to the agent')}
      </Button>
    </div>
  );
}

type Open = 'branch' | 'pull-request';

function RepositoryBar({ repository }: { readonly repository: WorkspaceRepository }) {
  const [open, setOpen] = useState<Open>();
  const toggle = (form: Open) => setOpen(open === form ? undefined : form);
  const { branch, ahead, remote } = repository;
  return (
    <>
      <CommitForm repository={repository} />
      <div className="review-row">
        <span className="truncate text-ink-2">
          {tx('On {{branch}}', { branch: <span className="mono">{branch ?? t('no branch')}</span> })}
          {ahead !== null && ahead > 0 && t(', {{count}} commits not pushed', { count: ahead })}
        </span>
        <span className="flex-1" />
        <Button small aria-expanded={open === 'branch'} onClick={() => toggle('branch')}>
          {t('New branch')}
        </Button>
        {remote && (
          <Button small aria-expanded={open === 'pull-request'} onClick={() => toggle('pull-request')}>
            {t('Open pull request')}
          </Button>
        )}
      </div>
      {open === 'branch' && <BranchForm onDone={() => setOpen(undefined)} />}
      {open === 'pull-request' && remote && <PullRequestForm repository={repository} remote={remote} />}
    </>
  );
}

function CommitForm({ repository: { uncommitted } }: { readonly repository: WorkspaceRepository }) {
  const { id } = useConversationActs();
  const [message, setMessage] = useState('');
  const { act, problem } = useCommand(
    async (sent: string) => {
      const isWhole = uncommitted.paths.length < uncommitted.count;
      return tendon.review.commit(id, { message: sent, ...(!isWhole && { paths: uncommitted.paths }) });
    },
    (sent) => setMessage((now) => (now === sent ? '' : now)),
  );
  if (uncommitted.count === 0) return <p className="review-row text-ink-3">{t('Everything is committed.')}</p>;
  const words = t('Commit {{count}} files', { count: uncommitted.count });
  return (
    <form
      className="review-row"
      aria-label={t('Commit')}
      onSubmit={(event) => {
        event.preventDefault();
        if (message.trim() !== '' && !act.isPending) act.mutate(message);
      }}
    >
      <input
        className="field flex-1"
        aria-label={t('Commit message')}
        placeholder={t('Commit message')}
        maxLength={10_000}
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      <Button type="submit" look="line" disabled={message.trim() === ''} title={uncommitted.paths.slice(0, 40).join('\n')}>
        {act.isPending ? t('Committing') : words}
      </Button>
      {problem}
    </form>
  );
}

function BranchForm({ onDone }: { readonly onDone: () => void }) {
  const { id } = useConversationActs();
  const [name, setName] = useState('');
  const { act, problem } = useCommand((sent: string) => tendon.review.branch(id, sent.trim()), onDone);
  return (
    <form
      className="review-row"
      aria-label={t('New branch')}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '' && !act.isPending) act.mutate(name);
      }}
    >
      <input
        className="field flex-1"
        aria-label={t('Name of the branch')}
        placeholder="fix/what-it-is-about"
        maxLength={250}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" look="line" disabled={name.trim() === ''}>
        {t('Make it and switch to it')}
      </Button>
      {problem}
    </form>
  );
}

/** A command of git: it has worked when its exit code says so; else its own words are shown. */
function useCommand(run: (sent: string) => Promise<CommandOutcome>, onDone: (sent: string) => void) {
  const lookAgain = useLookAgain();
  const act = useMutation({
    mutationFn: async (sent: string) => {
      const { exit_code: code, output } = await run(sent);
      if (code !== 0) throw new Error(output.trim() || t('git ended with exit code {{code}}', { code }));
    },
    onSuccess: (_outcome, sent) => onDone(sent),
    onSettled: lookAgain,
  });
  const problem: ReactNode = act.error && (
    <p role="alert" className="w-full tone-bad whitespace-pre-wrap">
      {act.error.message}
    </p>
  );
  return { act, problem };
}
