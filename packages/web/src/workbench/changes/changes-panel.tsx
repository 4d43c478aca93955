import { useMutation } from '@tanstack/react-query';
import type { ChangedFile, Observation, WorkspaceChanges } from '@tendon/protocol';
import { useState, useSyncExternalStore } from 'react';
import { useConversation, useConversationActs } from '../../conversation/open-conversation.ts';
import { clock } from '../../copy/figures.ts';
import { shownPath } from '../../copy/shorten.ts';
import { tendon } from '../../lib/server.ts';
import { stored } from '../../lib/stored.ts';
import { sharedList } from '../../lib/shared-list.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Late } from '../../ui/placeholder.tsx';
import { BasePicker } from './base-picker.tsx';
import { CommitBar } from './commit-bar.tsx';
import { useReportedCount } from './changed-count.ts';
import { FileList, inOrder, LineCounts, seenKey } from './file-list.tsx';
import { FileReview, type Reverted } from './file-review.tsx';
import { LoggedEdits } from './logged-edits.tsx';
import { useChanges, useLookAgain, useRepository } from './use-review.ts';
import { figure, t } from '../../lib/language/text.ts';

/** What differs from the start, a turn, a branch or a checkpoint, whatever changed it; and what a person does with that. */
export function ChangesPanel({ eventId }: { readonly eventId: number | undefined }) {
  const { isWatched } = useConversationActs();
  return isWatched ? <LoggedEdits eventId={eventId} /> : <Review eventId={eventId} />;
}

function Review({ eventId }: { readonly eventId: number | undefined }) {
  const { id, snapshot } = useConversation();
  const [against, setAgainst] = useState(() => stored.get(`against.${id}`) ?? 'start');
  const [isWaking, setWaking] = useState(false);
  const changes = useChanges(against, isWaking);
  const { data } = changes;
  const isCompared = data?.state === 'compared';
  useReportedCount(against === 'start' && isCompared ? data : undefined);
  const repository = useRepository(isWaking, isCompared).data?.repository ?? undefined;
  const choose = (base: string) => {
    setAgainst(base);
    stored.set(`against.${id}`, base === 'start' ? null : base);
  };
  if (data?.state === 'suspended') return <SuspendedChanges eventId={eventId} onWake={() => setWaking(true)} />;
  const picker = <BasePicker value={against} branches={repository?.branches ?? []} onChange={choose} />;
  if (changes.isPending) {
    return (
      <div className="p-4">
        <Late>{t('Comparing with the start')}</Late>
      </div>
    );
  }
  if (changes.error || !data) {
    return (
      <>
        <div className="panel-bar">
          <span role="alert" className="truncate">
            {changes.error?.message ?? t('The changes could not be read')}
          </span>
          <span className="flex-1" />
          {picker}
          <Button small look="line" onClick={() => void changes.refetch()}>
            {t('Try again')}
          </Button>
        </div>
        <LoggedEdits eventId={eventId} />
      </>
    );
  }
  const asked = snapshot.events.find((event) => event.id === eventId) as Observation<'edit'> | undefined;
  return (
    <Desk
      {...{ data, against, picker }}
      asked={asked?.extras?.path && shownPath(asked.extras.path)}
      revision={changes.dataUpdatedAt}
      footer={<CommitBar repository={repository} />}
    />
  );
}

/** Nothing is started because somebody looks. */
function SuspendedChanges({ eventId, onWake }: { readonly eventId: number | undefined; readonly onWake: () => void }) {
  return (
    <>
      <div className="panel-bar">
        <span className="truncate text-ink-3">{t('The sandbox is suspended: these are the edits in the log.')}</span>
        <span className="flex-1" />
        <Button look="line" small onClick={onWake}>
          {t('Compare the files')}
        </Button>
      </div>
      <LoggedEdits eventId={eventId} />
    </>
  );
}

interface DeskProps {
  readonly data: WorkspaceChanges;
  readonly against: string;
  readonly picker: React.ReactNode;
  readonly footer: React.ReactNode;
  /** The file of the event that is shown. */
  readonly asked: string | undefined;
  readonly revision: number;
}

function Desk({ data, against, picker, footer, asked, revision }: DeskProps) {
  const files = inOrder(data.files);
  const [chosen, setChosen] = useState<{ readonly path: string; readonly asked: string | undefined }>();
  const [isSideBySide, setSideBySide] = useState(() => (stored.get('diff') ?? (window.innerWidth >= 1600 ? 'side' : 'inline')) === 'side');
  const [reverted, setReverted] = useState<Reverted>();
  const seen = useSeen();
  const lookAgain = useLookAgain();
  const wanted = chosen && chosen.asked === asked ? chosen.path : asked;
  const current = files.find(({ path }) => path === wanted) ?? files[0];
  const show = (side: boolean) => {
    setSideBySide(side);
    stored.set('diff', side ? 'side' : 'inline');
  };
  return (
    <div className="review">
      <div className="panel-bar">
        <span className="font-medium">{t('{{count}} files', { count: data.count })}</span>
        <LineCounts added={sum(files, 'added')} removed={sum(files, 'removed')} />
        <span className="flex-1" />
        {picker}
        <LayoutChoice isSideBySide={isSideBySide} onChange={show} />
      </div>
      {reverted && <Undo reverted={reverted} onDone={() => setReverted(undefined)} />}
      {data.base.note && <p className="review-note text-ink-3">{data.base.note}</p>}
      {data.count > files.length && (
        <p className="review-note text-ink-3">
          {t('The first {{count}} files of {{all}} are listed.', { count: files.length, all: figure(data.count) })}
        </p>
      )}
      {!current ? (
        <Empty title={t('Nothing changed yet')}>{baseWords(data)}</Empty>
      ) : (
        <div className="changes">
          <FileList files={files} current={current.path} isSeen={seen.has} onChoose={(path) => setChosen({ path, asked })} />
          <div className="min-w-0">
            <FileReview
              key={current.path}
              file={current}
              {...{ against, revision, isSideBySide }}
              isSeen={seen.has(current)}
              canAct
              onSeen={(isSeen) => {
                seen.mark(current, isSeen);
                const next = isSeen && files.slice(files.indexOf(current) + 1).find((file) => !seen.has(file));
                if (next) setChosen({ path: next.path, asked });
              }}
              onReverted={(done) => {
                setReverted(done);
                void lookAgain();
              }}
            />
          </div>
        </div>
      )}
      {footer}
    </div>
  );
}

function LayoutChoice({ isSideBySide, onChange }: { readonly isSideBySide: boolean; readonly onChange: (isSideBySide: boolean) => void }) {
  return (
    <div className="segments" role="group" aria-label={t('Layout of the difference')}>
      <button type="button" aria-pressed={!isSideBySide} onClick={() => onChange(false)}>
        {t('Inline')}
      </button>
      <button type="button" aria-pressed={isSideBySide} onClick={() => onChange(true)}>
        {t('Side by side')}
      </button>
    </div>
  );
}

/** In the place of what was reverted, until the next one. */
function Undo({ reverted: { words, undo }, onDone }: { readonly reverted: Reverted; readonly onDone: () => void }) {
  const { id } = useConversationActs();
  const lookAgain = useLookAgain();
  const back = useMutation({
    mutationFn: async () => undo && tendon.conversations.restorePaths(id, undo.checkpoint, undo.paths),
    onSuccess: async () => {
      onDone();
      await lookAgain();
    },
  });
  return (
    <div className="review-note">
      <span role="status">{words}</span>
      {undo ? (
        <Button small look="line" isBusy={back.isPending} onClick={() => back.mutate()}>
          {t('Undo')}
        </Button>
      ) : (
        <span className="text-ink-3">{t('What was there before is not stored, so this cannot be undone.')}</span>
      )}
      {back.error && (
        <span role="alert" className="tone-bad">
          {back.error.message}
        </span>
      )}
    </div>
  );
}

const MOST_SEEN = 500;
const seenMarks = sharedList((entry) => (typeof entry === 'string' ? entry : undefined));

/** Which files a person has looked at, as they were then: one whose content changes again is unseen, also with as many lines as before. */
function useSeen() {
  const { id } = useConversationActs();
  const name = `seen.${id}`;
  const seen = useSyncExternalStore(seenMarks.subscribe, () => seenMarks.of(name));
  return {
    has: (file: ChangedFile) => seen.includes(seenKey(file)),
    mark(file: ChangedFile, isSeen: boolean) {
      const others = (all: readonly string[]) => all.filter((one) => one !== seenKey(file));
      seenMarks.change(name, (all) => (isSeen ? [...others(all), seenKey(file)].slice(-MOST_SEEN) : others(all)));
    },
  };
}

function sum(files: readonly ChangedFile[], side: 'added' | 'removed'): number {
  return files.reduce((total, file) => total + (file[side] ?? 0), 0);
}

function baseWords({ base }: WorkspaceChanges): string {
  if (base.kind === 'now') return t('No step since then could have changed a file.');
  if (base.made_at) return t('The files are what they were at {{time}}.', { time: clock(base.made_at) });
  return t('The files are what they are in that commit.');
}
