import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { saveTrajectory } from '../../conversation/save-trajectory.ts';
import { navigate } from '../../lib/address.tsx';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { t } from '../../lib/language/text.ts';

export interface TitleEntriesProps {
  readonly id: string;
  readonly title: string;
  readonly onRename: () => void;
  readonly close: () => void;
}

/** What can be done with the conversation as a whole. */
export function TitleEntries({ id, title, onRename, close }: TitleEntriesProps) {
  const [isDeleting, setDeleting] = useState(false);
  if (isDeleting) return <Deletion id={id} title={title} onKeep={close} />;
  const entry = (words: string, run: () => void, ref?: typeof focusOnMount) => (
    <button
      type="button"
      ref={ref}
      className="option"
      onClick={() => {
        close();
        run();
      }}
    >
      {words}
    </button>
  );
  return (
    <>
      {entry(t('Rename'), onRename, focusOnMount)}
      {entry(t('Share read-only'), () => document.getElementById('share')?.click())}
      {entry(t('Copy a link to the conversation'), () => void navigator.clipboard.writeText(tendon.baseUrl + paths.conversation(id)))}
      {entry(t('Download as JSON'), () => void saveTrajectory(id))}
      <button type="button" className="option" onClick={() => setDeleting(true)}>
        {t('Delete')}
      </button>
    </>
  );
}

/** It cannot be taken back from here, as it can in the list: so it is asked about. */
function Deletion({ id, title, onKeep }: { readonly id: string; readonly title: string; readonly onKeep: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => tendon.conversations.delete(id),
    onSuccess: async () => {
      navigate(paths.home);
      await queries.invalidateQueries({ queryKey: ['conversations'] });
    },
  });
  return (
    <div className="grid gap-2 p-2">
      <p>{t('Delete “{{title}}” with its events and files?', { title })}</p>
      <div className="flex gap-2">
        <Button look="line" isBusy={remove.isPending} onClick={() => remove.mutate()}>
          {t('Delete')}
        </Button>
        <Button ref={focusOnMount} onClick={onKeep}>
          {t('Keep it')}
        </Button>
      </div>
      {remove.error && (
        <p role="alert" className="text-small text-bad">
          {remove.error.message}
        </p>
      )}
    </div>
  );
}
