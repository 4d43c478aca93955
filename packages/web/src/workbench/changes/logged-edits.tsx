import type { Observation } from '@tendon/protocol';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import { DiffTable } from '../../code/diff-table.tsx';
import { lineDiff, type LineDiff, unifiedDiff } from '../../code/line-diff.ts';
import { fileVersions, type FileVersions } from '../../conversation/changed-files.ts';
import { useConversation } from '../../conversation/open-conversation.ts';
import { fileName, shownPath } from '../../copy/shorten.ts';
import { Icon } from '../../ui/icon.tsx';
import { Empty } from '../../ui/placeholder.tsx';
import { EarlierEvents } from '../earlier-events.tsx';
import { figure, t } from '../../lib/language/text.ts';

interface ChangedFile {
  readonly path: string;
  readonly isNew: boolean;
  readonly diff: LineDiff;
}

/** What the agent's edits changed, as the log has it: from before its first edit to after its last. For where no sandbox can be asked. */
export function LoggedEdits({ eventId }: { readonly eventId: number | undefined }) {
  const { events } = useConversation().snapshot;
  const files = useMemo(() => changedOf(fileVersions(events)), [events]);
  const asked = events.find((event) => event.id === eventId) as Observation<'edit'> | undefined;
  const [chosen, setChosen] = useState<string>();
  const current = chosen ?? asked?.extras?.path ?? files[0]?.path;
  if (files.length === 0)
    return (
      <>
        <EarlierEvents />
        <Empty title={t('No edits in the log')}>
          {t('What the agent edits with its own tool is listed here; what commands change is not in the log.')}
        </Empty>
      </>
    );
  const added = files.reduce((sum, file) => sum + file.diff.added, 0);
  const removed = files.reduce((sum, file) => sum + file.diff.removed, 0);
  return (
    <>
      <EarlierEvents />
      <div className="panel-bar">
        <span className="font-medium">{t('{{count}} files', { count: files.length })}</span>
        <Counts added={added} removed={removed} className="pl-1.5" />
        <span className="truncate pl-2 text-ink-3">{t('edited by the agent')}</span>
      </div>
      <div className="changes">
        <Names files={files} current={current} onChoose={setChosen} />
        <div className="min-w-0">
          {files.map((file) => (
            <FileChanges key={file.path} file={file} />
          ))}
        </div>
      </div>
    </>
  );
}

interface NamesProps {
  readonly files: readonly ChangedFile[];
  readonly current: string | undefined;
  readonly onChoose: (path: string) => void;
}

/** By folder; choosing one scrolls to its changes. */
function Names({ files, current, onChoose }: NamesProps) {
  return (
    <nav className="changed-files" aria-label={t('Changed files')}>
      <div>
        {byFolder(files).map(([folder, inside]) => (
          <div key={folder}>
            {folder && <p className="folder">{folder}</p>}
            {inside.map((file) => (
              <button
                key={file.path}
                type="button"
                className="file"
                aria-current={file.path === current}
                onClick={() => {
                  onChoose(file.path);
                  document.getElementById(`file-${file.path}`)?.scrollIntoView({ block: 'start' });
                }}
              >
                <span className="truncate">{fileName(file.path)}</span>
                <span className="changed-counts">
                  <Counts added={file.diff.added} removed={file.diff.removed} />
                </span>
              </button>
            ))}
          </div>
        ))}
      </div>
    </nav>
  );
}

function FileChanges({ file }: { readonly file: ChangedFile }) {
  const [isOpen, setOpen] = useState(true);
  return (
    <section id={`file-${file.path}`} aria-label={file.path} className="scroll-mt-10">
      <button type="button" className="file-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon of={isOpen ? ChevronDown : ChevronRight} small />
        <span className="mono truncate">{shownPath(file.path)}</span>
        {file.isNew && (
          <span className="chip" data-tone="ok">
            {t('new')}
          </span>
        )}
      </button>
      {isOpen && <DiffTable diff={file.diff} path={file.path} isNew={file.isNew} />}
    </section>
  );
}

function Counts({ added, removed, className }: { readonly added: number; readonly removed: number; readonly className?: string }) {
  return (
    <span className={className}>
      {added > 0 && <span className="tone-ok">+{figure(added)}</span>} {removed > 0 && <span className="tone-bad">−{figure(removed)}</span>}
    </span>
  );
}

function changedOf(versions: readonly FileVersions[]): readonly ChangedFile[] {
  return versions
    .map(({ path, isNew, before, after, diff }): ChangedFile => {
      return { path, isNew, diff: after === undefined && diff ? unifiedDiff(diff) : lineDiff(before, after ?? '') };
    })
    .filter((file) => file.diff.added + file.diff.removed > 0 || file.isNew)
    .toSorted((a, b) => a.path.localeCompare(b.path));
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function byFolder(files: readonly ChangedFile[]): readonly (readonly [string, readonly ChangedFile[]])[] {
  const folders = Map.groupBy(files, (file) => folderOf(shownPath(file.path)));
  return [...folders];
}
