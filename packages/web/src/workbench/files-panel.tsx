import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { NumberedLines } from '../code/highlight.tsx';
import { useConversation } from '../conversation/open-conversation.ts';
import { fileName } from '../copy/shorten.ts';
import { tendon } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty, Late } from '../ui/placeholder.tsx';

/** The workspace, folder by folder, each asked for when it is opened. */
export function FilesPanel() {
  const [file, setFile] = useState<string>();
  return (
    <div className="changes">
      <nav className="changed-files" aria-label="Files">
        <div>
          <Folder path="" depth={0} chosen={file} onFile={setFile} />
        </div>
      </nav>
      <div className="min-w-0 p-4">{file ? <FileText path={file} /> : <Empty title="Choose a file" />}</div>
    </div>
  );
}

interface FolderProps {
  readonly path: string;
  readonly depth: number;
  readonly chosen: string | undefined;
  readonly onFile: (path: string) => void;
}

function Folder({ path, depth, chosen, onFile }: FolderProps) {
  const { id, snapshot } = useConversation();
  const list = useQuery({
    queryKey: ['files', id, path, snapshot.state.lastAgentEventId],
    queryFn: () => tendon.files.list(id, path || undefined),
    retry: false,
    placeholderData: (before) => before,
  });
  if (list.isPending) return <Late>Reading the folder</Late>;
  if (list.isError) {
    return (
      <p className="p-2 text-small text-ink-2">
        Could not read {path || 'the workspace'}: {list.error.message}.
        <Button small onClick={() => void list.refetch()}>
          Try again
        </Button>
      </p>
    );
  }
  if (list.data.length === 0 && depth === 0) {
    return (
      <p className="p-2 text-ink-2">
        <b className="font-semibold text-ink">The folder is empty</b>
      </p>
    );
  }
  return list.data.map((entry) => <Entry key={entry} entry={entry} depth={depth} chosen={chosen} onFile={onFile} />);
}

function Entry({ entry, depth, chosen, onFile }: Omit<FolderProps, 'path'> & { readonly entry: string }) {
  const [isOpen, setOpen] = useState(false);
  const isFolder = entry.endsWith('/');
  const path = isFolder ? entry.slice(0, -1) : entry;
  return (
    <>
      <button
        type="button"
        className="file"
        style={{ paddingLeft: 8 + depth * 12 + (isFolder ? 0 : 22) }}
        {...(isFolder ? { 'aria-expanded': isOpen } : { 'aria-current': path === chosen })}
        onClick={() => (isFolder ? setOpen(!isOpen) : onFile(path))}
      >
        {isFolder && <Icon of={isOpen ? ChevronDown : ChevronRight} small />}
        <span className="truncate">{fileName(path)}</span>
      </button>
      {isFolder && isOpen && <Folder path={entry} depth={depth + 1} chosen={chosen} onFile={onFile} />}
    </>
  );
}

function FileText({ path }: { readonly path: string }) {
  const { id, snapshot } = useConversation();
  const file = useQuery({
    queryKey: ['file', id, path, snapshot.state.lastAgentEventId],
    queryFn: () => tendon.files.read(id, path),
    retry: false,
    placeholderData: (before) => before,
  });
  if (file.isPending) return <Late>Reading {path}</Late>;
  if (file.isError) {
    return (
      <p className="text-ink-2">
        Could not read {path}: {file.error.message}.
      </p>
    );
  }
  return <NumberedLines key={path} text={file.data.code} path={path} />;
}
