import { newId } from '@tendon/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Folder } from 'lucide-react';
import { useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { tendon } from '../../lib/tendon.ts';
import type { Attachment } from '../../composer/attachment.ts';
import { Composer } from '../../composer/composer.tsx';
import { AgentChoice } from '../../composer/agent-choice.tsx';
import { ModelChoice } from '../../composer/model-choice.tsx';
import { useDraft } from '../../composer/use-draft.ts';
import { useCommands } from '../../lib/commands.ts';
import { paths } from '../../lib/paths.ts';
import { theme } from '../../lib/theme.ts';
import { Button } from '../../ui/button.tsx';
import { FolderChoice } from './folder-choice.tsx';

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

/** Where a task begins. */
export function TaskComposer() {
  const requestKey = useRequestKey();
  const [text, setText] = useDraft('home');
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [folder, setFolder] = useState('');
  const navigate = useNavigate();
  const queries = useQueryClient();
  const start = useMutation({
    mutationFn: () => {
      const imageUrls = attachments.flatMap((one) => one.dataUrl ?? []);
      const body = { initial_user_msg: text.trim(), image_urls: imageUrls, ...(folder && { directory: folder }) };
      return tendon.conversations.create(body, { idempotencyKey: requestKey.of(body) });
    },
    onSuccess: async ({ conversation_id: id }) => {
      requestKey.forget();
      setText('');
      void queries.invalidateQueries({ queryKey: ['conversations'] });
      await navigate(paths.conversation(id));
    },
  });
  const canStart = text.trim() !== '' && !start.isPending;
  const send = () => canStart && start.mutate();
  useCommands('task', [{ id: 'start', title: 'Start the task', group: 'Here', keys: ['mod+enter'], enabled: canStart, run: send }]);
  return (
    <>
      <Composer
        className="composer-home"
        label="Task"
        placeholder="Describe a task. Run a command with /, drop or paste images."
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        accept="image/*"
        onSend={send}
        slash={[
          { name: '/new', about: 'Clear the field', run: () => setText('') },
          { name: '/theme', about: 'Switch between light and dark', run: theme.toggle },
        ]}
        autoFocus
        end={
          <Button look="main" hint="mod+enter" disabled={!canStart} title={canStart ? undefined : 'Describe a task first'} onClick={send}>
            {start.isPending ? 'Starting' : 'Start'}
          </Button>
        }
        below={
          <div className="composer-where">
            <FolderChoice icon={Folder} folder={folder} onFolder={setFolder} />
            <span className="flex-1" />
            <span className="only-wide">
              <AgentChoice />
            </span>
            <ModelChoice />
          </div>
        }
      />
      {start.isError && (
        <p role="alert" className="mt-2 text-bad">
          {start.error.message}
        </p>
      )}
    </>
  );
}
