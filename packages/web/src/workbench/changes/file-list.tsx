import type { ChangedFile } from '@tendon/protocol';
import { Check } from 'lucide-react';
import { fileName } from '../../copy/shorten.ts';
import { Icon } from '../../ui/icon.tsx';
import { figure, t } from '../../lib/language/text.ts';

/** `mod_2` before `mod_10`. */
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

export function inOrder(files: readonly ChangedFile[]): readonly ChangedFile[] {
  return files.toSorted((a, b) => BY_NUMBER.compare(folderOf(a.path), folderOf(b.path)) || BY_NUMBER.compare(a.path, b.path));
}

/** Names a file as it is now: by its content, where the server names that, else by its lines. */
export function seenKey({ path, status, content, added, removed }: ChangedFile): string {
  return [path, status, ...(content === undefined ? [added, removed] : [content])].join('\t');
}

interface FileListProps {
  readonly files: readonly ChangedFile[];
  readonly current: string | undefined;
  readonly isSeen: (file: ChangedFile) => boolean;
  readonly onChoose: (path: string) => void;
}

/** The changed files by folder, as a list where the panel is wide, else as a menu. */
export function FileList({ files, current, isSeen, onChoose }: FileListProps) {
  const folders = [...Map.groupBy(files, (file) => folderOf(file.path))];
  return (
    <>
      <nav className="changed-files" aria-label={t('Changed files')}>
        <div>
          {folders.map(([folder, inside]) => (
            <div key={folder}>
              {folder && <p className="folder">{folder}</p>}
              {inside.map((file) => (
                <button
                  key={file.path}
                  type="button"
                  className="file"
                  aria-current={file.path === current}
                  onClick={() => onChoose(file.path)}
                >
                  {isSeen(file) && <Icon of={Check} small />}
                  <span className="truncate">{fileName(file.path)}</span>
                  {isSeen(file) && <span className="sr-only">{t('seen')}</span>}
                  <LineCounts {...file} />
                </button>
              ))}
            </div>
          ))}
        </div>
      </nav>
      <select
        className="field changed-menu"
        aria-label={t('Changed file')}
        value={current}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {files.map((file) => (
          <option key={file.path} value={file.path}>
            {isSeen(file) ? `✓ ${file.path}` : file.path}
          </option>
        ))}
      </select>
    </>
  );
}

export function LineCounts({ added, removed }: Pick<ChangedFile, 'added' | 'removed'>) {
  return (
    <span className="changed-counts">
      {added !== null && added > 0 && <span className="tone-ok">+{figure(added)}</span>}
      {removed !== null && removed > 0 && <span className="tone-bad">−{figure(removed)}</span>}
    </span>
  );
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
