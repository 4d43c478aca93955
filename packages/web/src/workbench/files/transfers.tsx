import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { fileName } from '../../copy/shorten.ts';
import { useCommands } from '../../lib/commands.ts';
import { saveBlob } from '../../lib/save-blob.ts';
import { tendon } from '../../lib/server.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { t } from '../../lib/language/text.ts';

export interface UploadState {
  /** Uploads what replaces nothing; the rest waits for a word. */
  readonly offer: (files: readonly File[]) => void;
  /** Files of these names are there already. */
  readonly replacing: readonly File[];
  readonly answer: (isWanted: boolean) => void;
  readonly words: string;
  readonly problem: string | undefined;
}

/** Uploads into one folder of the workspace. */
export function useUpload(id: string, folder: string): UploadState {
  const queries = useQueryClient();
  const [replacing, setReplacing] = useState<readonly File[]>([]);
  const send = useMutation({
    mutationFn: (files: readonly File[]) => tendon.files.upload(id, files, folder),
    onSettled: () => Promise.all(['files', 'file', 'picture'].map((kind) => queries.invalidateQueries({ queryKey: [kind, id] }))),
  });
  const offer = async (files: readonly File[]) => {
    const there = new Set((await tendon.files.list(id, folder || undefined).catch(() => [])).map(fileName));
    const [known, fresh] = [files.filter(({ name }) => there.has(name)), files.filter(({ name }) => !there.has(name))];
    setReplacing(known);
    if (fresh.length > 0) send.mutate(fresh);
  };
  const { data, error, isPending, variables = [] } = send;
  const skipped = data?.skipped_files.map(({ name, reason }) => `${fileName(name)}: ${reason}`).join('; ');
  return {
    offer: (files) => void offer(files),
    replacing,
    answer(isWanted) {
      if (isWanted) send.mutate(replacing);
      setReplacing([]);
    },
    words: isPending
      ? t('Uploading {{count}} files', { count: variables.length })
      : data
        ? t('Uploaded {{count}} files to {{place}}', { count: data.uploaded_files.length, place: folder || t('the workspace') })
        : '',
    problem: error?.message ?? (skipped || undefined),
  };
}

/** Files in and out, for the folder that was chosen last. */
export function Transfers({ folder, upload }: { readonly folder: string; readonly upload: UploadState }) {
  const { id } = useConversationActs();
  const input = useRef<HTMLInputElement>(null);
  const zip = useMutation({
    mutationFn: async () => saveBlob(await tendon.files.zip(id, folder || undefined), `${fileName(folder) || 'workspace'}.zip`),
  });
  const place = folder || t('the workspace');
  const choose = () => input.current?.click();
  useCommands('files', [
    { id: 'upload', title: t('Upload files to {{place}}', { place }), group: 'Here', run: choose },
    { id: 'zip', title: t('Download {{place}} as a zip', { place }), group: 'Here', run: () => zip.mutate() },
  ]);
  const problem = upload.problem ?? zip.error?.message;
  return (
    <>
      <div className="panel-bar">
        <span className="truncate text-ink-2" title={place}>
          {folder ? `${folder}/` : t('Workspace')}
        </span>
        <span className="flex-1" />
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={t('Files for {{place}}', { place })}
          onChange={(event) => {
            upload.offer([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
        <IconButton small label={t('Upload files to {{place}}', { place })} onClick={choose}>
          <Icon of={Upload} small />
        </IconButton>
        <IconButton small label={t('Download {{place}} as a zip', { place })} isBusy={zip.isPending} onClick={() => zip.mutate()}>
          <Icon of={Download} small />
        </IconButton>
      </div>
      {upload.replacing.length > 0 && <Replacing {...upload} />}
      {problem && (
        <p className="files-notice" role="alert" data-tone="bad">
          {problem}
        </p>
      )}
      <p role="status" className={upload.words || zip.isPending ? 'files-notice text-ink-2' : undefined}>
        {zip.isPending ? t('Packing {{place}}', { place }) : upload.words}
      </p>
    </>
  );
}

function Replacing({ replacing, answer }: UploadState) {
  const names = replacing.map(({ name }) => name).join(', ');
  return (
    <div className="files-notice" role="alert" data-tone="wait">
      <p>{replacing.length === 1 ? t('{{names}} is there already.', { names }) : t('{{names}} are there already.', { names })}</p>
      <div className="flex gap-2">
        <Button small look="line" onClick={() => answer(true)}>
          {t('Replace {{count}} files', { count: replacing.length })}
        </Button>
        <Button small onClick={() => answer(false)}>
          {replacing.length === 1 ? t('Leave as it is') : t('Leave as they are')}
        </Button>
      </div>
    </div>
  );
}
