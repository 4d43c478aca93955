import { useQuery } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import { Download } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useConversation, useConversationActs } from '../../conversation/open-conversation.ts';
import { fileName } from '../../copy/shorten.ts';
import { saveBlob } from '../../lib/save-blob.ts';
import { tendon } from '../../lib/server.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Empty, Late } from '../../ui/placeholder.tsx';
import { useUnsaved } from './drafts.ts';
import { FileBar } from './file-bar.tsx';
import { TextFile } from './text-file.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const PICTURES: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif' },
  ...{ bmp: 'image/bmp', ico: 'image/x-icon', svg: 'image/svg+xml' },
};

/** A picture, or a text that can be edited; anything else can be downloaded. */
export function OpenFile({ path }: { readonly path: string }) {
  const type = PICTURES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  const [asText, setAsText] = useState(type === undefined);
  const isDrawing = type === 'image/svg+xml';
  const acts = (
    <>
      {isDrawing && (
        <Button small onClick={() => setAsText(!asText)}>
          {asText ? t('Show the picture') : t('Edit the text')}
        </Button>
      )}
      <DownloadButton path={path} />
    </>
  );
  return asText ? <Text path={path} acts={acts} /> : <Picture path={path} type={type!} acts={acts} />;
}

interface ShownProps {
  readonly path: string;
  readonly acts: ReactNode;
}

function Text({ path, acts }: ShownProps) {
  const { id, snapshot } = useConversation();
  const isUnsaved = useUnsaved(id, path);
  const file = useQuery({
    queryKey: ['file', id, path, snapshot.state.lastAgentEventId],
    queryFn: () => tendon.files.read(id, path),
    retry: false,
    placeholderData: (before) => before,
  });
  if (file.isPending) return <Late>{t('Reading {{path}}', { path })}</Late>;
  const isGone = file.error instanceof ApiError && file.error.status === 404;
  if (file.isError && !(isGone && isUnsaved)) {
    return <Unshown path={path} error={file.error} acts={acts} onAgain={() => void file.refetch()} />;
  }
  return <TextFile path={path} text={isGone ? undefined : file.data!.code} acts={acts} onAgain={() => file.refetch()} />;
}

function Picture({ path, type, acts }: ShownProps & { readonly type: string }) {
  const { id, snapshot } = useConversation();
  const file = useQuery({
    queryKey: ['picture', id, path, snapshot.state.lastAgentEventId],
    queryFn: ({ signal }) => tendon.files.download(id, path, signal),
    retry: false,
    gcTime: 0,
    placeholderData: (before) => before,
  });
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!file.data) return;
    const made = URL.createObjectURL(new Blob([file.data], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file.data, type]);
  if (file.isPending) return <Late>{t('Reading {{path}}', { path })}</Late>;
  if (file.isError) return <Unshown path={path} error={file.error} acts={acts} onAgain={() => void file.refetch()} />;
  return (
    <>
      <FileBar path={path}>{acts}</FileBar>
      <div className="files-picture scroll">{address && <img src={address} alt={fileName(path)} />}</div>
    </>
  );
}

function Unshown({ path, error, acts, onAgain }: ShownProps & { readonly error: Error; readonly onAgain: () => void }) {
  const why = error instanceof ApiError ? REASONS[error.status] : undefined;
  return (
    <>
      <FileBar path={path}>{acts}</FileBar>
      {why ? (
        <Empty title={t(why)}>{t('It can be downloaded.')}</Empty>
      ) : (
        <p className="p-4 text-ink-2" role="alert">
          {t('Could not read {{path}}: {{message}}.', { path, message: error.message })}{' '}
          <Button small onClick={onAgain}>
            {t('Try again')}
          </Button>
        </p>
      )}
    </>
  );
}

const REASONS: Readonly<Record<number, PlainText>> = {
  413: textKey('This file is too large to be shown'),
  415: textKey('This file is not text'),
};

function DownloadButton({ path }: { readonly path: string }) {
  const { id } = useConversationActs();
  const [problem, setProblem] = useState<string>();
  const download = () =>
    tendon.files.download(id, path).then(
      (bytes) => saveBlob(bytes, fileName(path)),
      (error: Error) => setProblem(error.message),
    );
  return (
    <>
      {problem && (
        <span role="alert" className="tone-bad text-small">
          {problem}
        </span>
      )}
      <IconButton small label={t('Download {{path}}', { path: fileName(path) })} onClick={() => void download()}>
        <Icon of={Download} small />
      </IconButton>
    </>
  );
}
