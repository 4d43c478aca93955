import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CheckpointChanges, CheckpointInfo } from '@tendon/protocol';
import { useConversationActs } from './open-conversation.ts';
import { paths } from '../lib/paths.ts';
import { tendon } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Late } from '../ui/placeholder.tsx';
import { navigate } from '../lib/address.tsx';
import { t, textKey } from '../lib/language/text.ts';

interface RestoreHereProps {
  /** The action before which the workspace was stored. */
  readonly actionId: number;
  /** What is restored. */
  readonly words: string;
  /** The last event that a fork still has, and what that means; none is offered without. */
  readonly fork: { readonly lastId: number; readonly words: string } | undefined;
  readonly onDone: () => void;
}

/** The way back to a moment, and on from it in a second conversation. What would change is shown first. */
export function RestoreHere({ actionId, words, fork, onDone }: RestoreHereProps) {
  const { id } = useConversationActs();
  const list = useQuery({ queryKey: ['checkpoints', id, actionId], queryFn: () => tendon.conversations.checkpoints(id), retry: false });
  const checkpoint = list.data && checkpointBefore(list.data.checkpoints, actionId);
  return (
    <section aria-label={t('Restore to here')} className="restore">
      {list.isPending && <Late>{t('Reading the checkpoints')}</Late>}
      {list.error && <p className="tone-bad">{list.error.message}</p>}
      {list.data && !checkpoint && (
        <p>
          {list.data.off === null
            ? t('The workspace of this moment is not stored.')
            : t('The workspace of this moment is not stored: {{reason}}.', { reason: list.data.off })}
        </p>
      )}
      {checkpoint && <Restore checkpoint={checkpoint} words={words} onDone={onDone} />}
      {fork && <Fork {...fork} />}
    </section>
  );
}

/** The state before an action is the newest one that is not later. */
function checkpointBefore(checkpoints: readonly CheckpointInfo[], actionId: number): CheckpointInfo | undefined {
  return checkpoints.find(({ event_id: step, restore_id: restore }) => (step ?? restore ?? Number.POSITIVE_INFINITY) <= actionId);
}

const PARTS = [
  ['files', textKey('Files')],
  ['conversation', textKey('Conversation')],
  ['both', textKey('Both')],
] as const;

interface RestoreProps {
  readonly checkpoint: CheckpointInfo;
  readonly words: string;
  readonly onDone: () => void;
}

function Restore({ checkpoint: { number, event_id: step }, words, onDone }: RestoreProps) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const changes = useQuery({
    queryKey: ['checkpoint-changes', id, number],
    queryFn: () => tendon.conversations.checkpointChanges(id, number),
    retry: false,
    staleTime: 0,
  });
  const restore = useMutation({
    mutationFn: (what: (typeof PARTS)[number][0]) => tendon.conversations.restore(id, number, what),
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: ['checkpoints', id] }),
  });
  const problem = restore.error ?? changes.error;
  return (
    <>
      <p>{words}</p>
      {changes.isPending ? <Late>{t('Comparing the files')}</Late> : changes.data && <Changes changes={changes.data} />}
      <div className="flex items-center gap-2">
        {PARTS.filter(([what]) => what === 'files' || step !== null).map(([what, name]) => (
          <Button key={what} look={what === 'files' ? 'main' : 'line'} isBusy={restore.isPending} onClick={() => restore.mutate(what)}>
            {t(name)}
          </Button>
        ))}
      </div>
      {restore.isPending && <Late>{t('Restoring')}</Late>}
      {problem && (
        <p role="alert" className="tone-bad">
          {problem.message}
        </p>
      )}
    </>
  );
}

const VERBS = { added: textKey('comes back'), changed: textKey('changes'), removed: textKey('goes') } as const;
const MAX_SHOWN = 8;

function Changes({ changes: { count, changes } }: { readonly changes: CheckpointChanges }) {
  if (count === 0) return <p className="text-ink-3">{t('No file would change.')}</p>;
  const more = count - Math.min(changes.length, MAX_SHOWN);
  return (
    <ul aria-label={t('What would change')}>
      {changes.slice(0, MAX_SHOWN).map(({ path, change }) => (
        <li key={path}>
          <span className="mono truncate">{path}</span>
          <span className="flex-1" />
          <span className="text-small text-ink-3">{t(VERBS[change])}</span>
        </li>
      ))}
      {more > 0 && <li className="text-small text-ink-3">{t('and {{more}} more', { more })}</li>}
    </ul>
  );
}

function Fork({ lastId, words }: NonNullable<RestoreHereProps['fork']>) {
  const { id } = useConversationActs();
  const fork = useMutation({
    mutationFn: () => tendon.conversations.fork(id, lastId),
    onSuccess: ({ conversation_id: forked }) => navigate(paths.conversation(forked)),
  });
  return (
    <>
      <p>{words}</p>
      <div>
        <Button look="line" isBusy={fork.isPending} onClick={() => fork.mutate()}>
          {t('Fork from here')}
        </Button>
      </div>
      {fork.isPending && <Late>{t('Copying the workspace')}</Late>}
      {fork.error && (
        <p role="alert" className="tone-bad">
          {fork.error.message}
        </p>
      )}
    </>
  );
}
