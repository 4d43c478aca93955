import { useMutation, useQueryClient } from '@tanstack/react-query';
import { newId, type NewConversation } from '@tendon/client';
import { ChevronDown, Folder, type LucideIcon } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Attachment } from '../../composer/attachments.tsx';
import { AgentChoice, ModelChoice } from '../../composer/choices.tsx';
import { Composer } from '../../composer/composer.tsx';
import { useCommands } from '../../lib/commands.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { useDraft } from '../../lib/stored.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { focusOnMount, Popup } from '../../ui/popup.tsx';
import { type ChosenRepository, RepositoryChoice } from './repository-choice.tsx';
import { navigate } from '../../lib/address.tsx';
import { t } from '../../lib/language/text.ts';

/** The key of a request that may be repeated because it got no answer: the same as long as the request is. */
function useRequestKey(): { of(body: unknown): string; forget(): void } {
  const last = useRef({ body: '', key: '' });
  return {
    of(body) {
      const text = JSON.stringify(body);
      if (last.current.body !== text) last.current = { body: text, key: newId() };
      return last.current.key;
    },
    forget: () => (last.current = { body: '', key: '' }),
  };
}

interface Task {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly folder: string;
  readonly worktree: boolean;
  /** In place of the folder. */
  readonly repository: ChosenRepository | undefined;
}

/** Makes a conversation of the task and goes there. */
function useStart({ text, attachments, folder, worktree, repository }: Task, onStarted: () => void) {
  const requestKey = useRequestKey();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => {
      const imageUrls = attachments.flatMap((one) => one.dataUrl ?? []);
      const body = {
        initial_user_msg: text.trim(),
        image_urls: imageUrls,
        ...(repository ? partOf(repository) : { ...(folder && { directory: folder }), ...(worktree && { git_worktree: true }) }),
      };
      return tendon.conversations.create(body, { idempotencyKey: requestKey.of(body) });
    },
    onSuccess: ({ conversation_id: id }) => {
      requestKey.forget();
      onStarted();
      void queries.invalidateQueries({ queryKey: ['conversations'] });
      navigate(paths.conversation(id));
    },
  });
}

function partOf({ name, provider, branch }: ChosenRepository): Pick<NewConversation, 'repository' | 'git_provider' | 'selected_branch'> {
  return { repository: name, ...(provider && { git_provider: provider }), ...(branch && { selected_branch: branch }) };
}

/** Where a task begins. */
export function TaskComposer() {
  const [text, setText] = useDraft('home');
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [folder, setFolder] = useState('');
  const [worktree, setWorktree] = useState(false);
  const [repository, setRepository] = useState<ChosenRepository>();
  const start = useStart({ text, attachments, folder, worktree, repository }, () => setText(''));
  const canStart = text.trim() !== '' && !start.isPending;
  const send = () => canStart && start.mutate();
  useCommands('task', [{ id: 'start', title: t('Start the task'), group: 'Here', keys: ['mod+enter'], enabled: canStart, run: send }]);
  return (
    <>
      <Composer
        className="composer-home"
        field={{
          label: t('Task'),
          placeholder: t('Describe a task. Paste or drop images.'),
          hasFocus: true,
          onSend: send,
        }}
        draft={{ text, onText: setText, attachments, onAttachments: setAttachments, accept: 'image/*' }}
        slash={[]}
        end={
          <Button
            look="main"
            hint="mod+enter"
            disabled={!canStart}
            title={canStart ? undefined : t('Describe a task first')}
            onClick={send}
          >
            {start.isPaused ? t('Waiting') : start.isPending ? t('Starting') : t('Start')}
          </Button>
        }
        below={
          <div className="composer-where">
            {!repository && (
              <FolderChoice icon={Folder} folder={folder} onFolder={setFolder} worktree={worktree} onWorktree={setWorktree} />
            )}
            <RepositoryChoice chosen={repository} onChoose={setRepository} />
            <span className="flex-1" />
            <span className="only-wide">
              <AgentChoice />
            </span>
            <ModelChoice />
          </div>
        }
      />
      {start.isPaused && (
        <p role="status" className="mt-2 text-ink-2">
          {t('Offline. It starts when you are back.')}
        </p>
      )}
      {start.isError && (
        <p role="alert" className="mt-2 text-bad">
          {start.error.message}
        </p>
      )}
    </>
  );
}

interface FolderChoiceProps {
  readonly icon: LucideIcon;
  readonly folder: string;
  readonly onFolder: (folder: string) => void;
  /** In a copy of it. */
  readonly worktree: boolean;
  readonly onWorktree: (worktree: boolean) => void;
}

/** Where the agent works: a folder of the server's machine, or the one the server gives. */
function FolderChoice({ icon, folder, onFolder, worktree, onWorktree }: FolderChoiceProps) {
  const [text, setText] = useState(folder);
  const shown = `${folder || t('New folder')}${worktree ? t(', a copy') : ''}`;
  return (
    <Popup
      label={t('Folder')}
      button={(popup) => (
        <Button look="quiet" aria-label={`${t('Folder')}: ${shown}`} {...popup}>
          <Icon of={icon} small />
          <span className="max-w-60 truncate">{shown}</span>
          <Icon of={ChevronDown} small />
        </Button>
      )}
    >
      {(close) => (
        <form
          className="flex w-80 max-w-full flex-col gap-2 p-2"
          onSubmit={(event) => {
            event.preventDefault();
            onFolder(text.trim());
            close();
          }}
        >
          <label htmlFor="folder" className="font-medium">
            {t('Folder on {{hostname}}', { hostname: location.hostname })}
          </label>
          <input
            id="folder"
            className="field w-full flex-none"
            value={text}
            placeholder="/home/me/project"
            ref={focusOnMount}
            onChange={(event) => setText(event.target.value)}
          />
          <p className="text-small text-ink-3">{t('Leave empty for a new one. The agent sees it as /workspace.')}</p>
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={worktree} onChange={(event) => onWorktree(event.target.checked)} />
            {t('Work in a copy of its own')}
          </label>
          <Button type="submit" look="line">
            {t('Use this folder')}
          </Button>
        </form>
      )}
    </Popup>
  );
}
