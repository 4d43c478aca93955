import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { useConversation } from '../../conversation/open-conversation.ts';
import { count } from '../../copy/figures.ts';
import { fileName } from '../../copy/shorten.ts';
import { useCommands } from '../../lib/commands.ts';
import { saveBlob } from '../../lib/save-blob.ts';
import { tendon } from '../../lib/server.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

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
      ? `Uploading ${count(variables.length, 'file')}`
      : data
        ? `Uploaded ${count(data.uploaded_files.length, 'file')} to ${folder || 'the workspace'}`
        : '',
    problem: error?.message ?? (skipped || undefined),
  };
}

/** Files in and out, for the folder that was chosen last. */
export function Transfers({ folder, upload }: { readonly folder: string; readonly upload: UploadState }) {
  const { id } = useConversation();
  const input = useRef<HTMLInputElement>(null);
  const zip = useMutation({
    mutationFn: async () => saveBlob(await tendon.files.zip(id, folder || undefined), `${fileName(folder) || 'workspace'}.zip`),
  });
  const place = folder || 'the workspace';
  const choose = () => input.current?.click();
  useCommands('files', [
    { id: 'upload', title: `Upload files to ${place}`, group: 'Here', run: choose },
    { id: 'zip', title: `Download ${place} as a zip`, group: 'Here', run: () => zip.mutate() },
  ]);
  const problem = upload.problem ?? zip.error?.message;
  return (
    <>
      <div className="panel-bar">
        <span className="truncate text-ink-2" title={place}>
          {folder ? `${folder}/` : 'Workspace'}
        </span>
        <span className="flex-1" />
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={`Files for ${place}`}
          onChange={(event) => {
            upload.offer([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
        <IconButton small label={`Upload files to ${place}`} onClick={choose}>
          <Icon of={Upload} small />
        </IconButton>
        <IconButton small label={`Download ${place} as a zip`} disabled={zip.isPending} onClick={() => zip.mutate()}>
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
        {zip.isPending ? `Packing ${place}` : upload.words}
      </p>
    </>
  );
}

function Replacing({ replacing, answer }: UploadState) {
  return (
    <div className="files-notice" role="alert" data-tone="wait">
      <p>
        {replacing.map(({ name }) => name).join(', ')} {replacing.length === 1 ? 'is' : 'are'} there already.
      </p>
      <div className="flex gap-2">
        <Button small look="line" onClick={() => answer(true)}>
          Replace {count(replacing.length, 'file')}
        </Button>
        <Button small onClick={() => answer(false)}>
          Leave as {replacing.length === 1 ? 'it is' : 'they are'}
        </Button>
      </div>
    </div>
  );
}
