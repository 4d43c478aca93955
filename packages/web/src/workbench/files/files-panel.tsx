import '../../styles/files.css';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Empty } from '../../ui/placeholder.tsx';
import { FolderTree } from './folder-tree.tsx';
import { OpenFile } from './open-file.tsx';
import { Transfers, useUpload } from './transfers.tsx';
import { t } from '../../lib/language/text.ts';

/** The workspace: its folders, each asked for when it is opened, and the file that is looked at or edited. */
export function FilesPanel() {
  const { id } = useConversationActs();
  const [file, setFile] = useState<string>();
  const [folder, setFolder] = useState('');
  const [isOver, setOver] = useState(false);
  const upload = useUpload(id, folder);
  const choose = (path: string) => {
    setFile(path);
    setFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
  };
  return (
    <section
      className="files"
      aria-label={t('Workspace')}
      data-file={file !== undefined}
      data-over={isOver}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        upload.offer([...event.dataTransfer.files]);
      }}
    >
      <div className="files-columns">
        <div className="files-side">
          <Transfers folder={folder} upload={upload} />
          <nav className="files-tree scroll" aria-label={t('Files')}>
            <FolderTree chosen={file} onFile={choose} onFolder={setFolder} />
          </nav>
        </div>
        <div className="files-open">
          {file ? (
            <>
              <Button className="files-back" onClick={() => setFile(undefined)}>
                <Icon of={ArrowLeft} small />
                {t('All files')}
              </Button>
              <OpenFile key={file} path={file} />
            </>
          ) : (
            <Empty title={t('Choose a file')}>{t('It can be edited here. Files that are dropped are uploaded.')}</Empty>
          )}
        </div>
      </div>
    </section>
  );
}
