import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useConversation, useConversationActs } from '../../conversation/open-conversation.ts';
import { fileName } from '../../copy/shorten.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { useUnsaved } from './drafts.ts';
import { t } from '../../lib/language/text.ts';

interface TreeProps {
  readonly chosen: string | undefined;
  readonly onFile: (path: string) => void;
  readonly onFolder: (path: string) => void;
}

export function FolderTree(props: TreeProps) {
  return <Folder {...props} path="" depth={0} />;
}

interface FolderProps extends TreeProps {
  readonly path: string;
  readonly depth: number;
}

function Folder({ path, depth, ...rest }: FolderProps) {
  const { id, snapshot } = useConversation();
  const list = useQuery({
    queryKey: ['files', id, path, snapshot.state.lastAgentEventId],
    queryFn: () => tendon.files.list(id, path || undefined),
    retry: false,
    placeholderData: (before) => before,
  });
  if (list.isPending) return <Late>{t('Reading the folder')}</Late>;
  if (list.isError) {
    return (
      <p className="p-2 text-small text-ink-2">
        {t('Could not read {{path}}: {{message}}.', { path: path || t('the workspace'), message: list.error.message })}{' '}
        <Button small onClick={() => void list.refetch()}>
          {t('Try again')}
        </Button>
      </p>
    );
  }
  if (list.data.length === 0 && depth === 0) {
    return (
      <p className="p-2 text-ink-2">
        <b className="block font-semibold text-ink">{t('The folder is empty')}</b>
        {t('Drop files here to upload them.')}
      </p>
    );
  }
  return list.data.map((entry) =>
    entry.endsWith('/') ? (
      <Branch key={entry} path={entry.slice(0, -1)} depth={depth} {...rest} />
    ) : (
      <Leaf key={entry} path={entry} depth={depth} {...rest} />
    ),
  );
}

const INDENT = 12;
const CHEVRON = 22;

function Branch({ path, depth, ...rest }: FolderProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="file"
        style={{ paddingLeft: 8 + depth * INDENT }}
        aria-expanded={isOpen}
        onClick={() => {
          setOpen(!isOpen);
          rest.onFolder(path);
        }}
      >
        <Icon of={isOpen ? ChevronDown : ChevronRight} small />
        <span className="truncate">{fileName(path)}</span>
      </button>
      {isOpen && <Folder path={`${path}/`} depth={depth + 1} {...rest} />}
    </>
  );
}

function Leaf({ path, depth, chosen, onFile }: FolderProps) {
  const isUnsaved = useUnsaved(useConversationActs().id, path);
  return (
    <button
      type="button"
      className="file"
      style={{ paddingLeft: 8 + depth * INDENT + CHEVRON }}
      aria-current={path === chosen}
      onClick={() => onFile(path)}
    >
      <span className="truncate">{fileName(path)}</span>
      {isUnsaved && <span className="ml-auto text-small text-ink-3">{t('not saved')}</span>}
    </button>
  );
}
