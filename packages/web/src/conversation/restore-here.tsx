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
  /** The action before which the workspace was stored; none where nothing was done since. */
  readonly actionId: number | undefined;
  /** The message or step before which the conversation would go on; without, the files alone can be restored. */
  readonly before: number | undefined;
  /** Where it leads. */
  readonly words: string;
  /** What is mostly meant. */
  readonly main: Part;
  /** The last event that a fork still has, and what that means; none is offered without. */
  readonly fork: { readonly lastId: number; readonly words: string } | undefined;
  readonly onDone: () => void;
}

/** The way back to a moment, and on from it in a second conversation. What would change is shown first. */
export function RestoreHere({ actionId, fork, ...props }: RestoreHereProps) {
  const { id } = useConversationActs();
  const list = useQuery({ queryKey: ['checkpoints', id, actionId], queryFn: () => tendon.conversations.checkpoints(id), retry: false });
  const checkpoint = actionId === undefined ? undefined : list.data && checkpointBefore(list.data.checkpoints, actionId);
  return (
    <section aria-label={t('Restore to here')} className="restore">
      <p>{props.words}</p>
      {list.isPending && <Late>{t('Reading the checkpoints')}</Late>}
      {list.error && <p className="tone-bad">{list.error.message}</p>}
      {list.data && !checkpoint && <p>{actionId === undefined ? t('No file was changed since.') : notStored(list.data.off)}</p>}
      {list.data && <Restore key={checkpoint?.number} checkpoint={checkpoint?.number} {...props} />}
      {fork && <Fork {...fork} />}
    </section>
  );
}

function notStored(reason: string | null): string {
  if (reason === null) return t('The workspace of this moment is not stored.');
  return t('The workspace of this moment is not stored: {{reason}}.', { reason });
}

/** The state before an action is the newest one that is not later. */
function checkpointBefore(checkpoints: readonly CheckpointInfo[], actionId: number): CheckpointInfo | undefined {
  return checkpoints.find(({ event_id: step, restore_id: restore }) => (step ?? restore ?? Number.POSITIVE_INFINITY) <= actionId);
}

type Part = 'files' | 'conversation' | 'both';

const NAMES = {
  files: textKey('Files only'),
  conversation: textKey('Conversation only'),
  both: textKey('Files and conversation'),
} as const satisfies Record<Part, string>;

interface RestoreProps extends Pick<RestoreHereProps, 'before' | 'main' | 'onDone'> {
  /** None: the files stay as they are. */
  readonly checkpoint: number | undefined;
}

function Restore({ checkpoint, before, main, onDone }: RestoreProps) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const changes = useQuery({
    queryKey: ['checkpoint-changes', id, checkpoint],
    queryFn: () => tendon.conversations.checkpointChanges(id, checkpoint!),
    enabled: checkpoint !== undefined,
    retry: false,
    staleTime: 0,
  });
  const restore = useMutation({
    // Without one there is the conversation alone to restore, for which `before` is enough: any number will do.
    mutationFn: (what: Part) => tendon.conversations.restore(id, checkpoint ?? 1, what, what === 'files' ? undefined : before),
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: ['checkpoints', id] }),
  });
  const parts = (Object.keys(NAMES) as Part[]).filter(
    (part) => (part === 'conversation' || checkpoint !== undefined) && (part === 'files' || before !== undefined),
  );
  const problem = restore.error ?? changes.error;
  return (
    <>
      {checkpoint !== undefined && (
        <>
          <p>{t('Files: these become what they were. The row of the restore takes it back.')}</p>
          {changes.isPending ? <Late>{t('Comparing the files')}</Late> : changes.data && <Changes changes={changes.data} />}
        </>
      )}
      {before !== undefined && (
        <p>{t('Conversation: the agent no longer knows this and what came after it, though you still see it. Fork first to keep it.')}</p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        {parts.map((part) => (
          <Button
            key={part}
            look={part === main || parts.length === 1 ? 'main' : 'line'}
            isBusy={restore.isPending}
            onClick={() => restore.mutate(part)}
          >
            {t(NAMES[part])}
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
