import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SandboxInfo } from '@tendon/protocol';
import { sizeWords, elapsed } from '../../copy/figures.ts';
import { paths } from '../../lib/paths.ts';
import { serverInfoQuery, tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { ListSection } from './list-section.tsx';
import { Link } from '../../ui/link.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const queryKey = ['sandboxes'];

/** The sandboxes, their usage, and buttons to stop them. */
export function SandboxSettings() {
  const queries = useQueryClient();
  const { data: server } = useQuery(serverInfoQuery);
  const sandboxes = useQuery({ queryKey, queryFn: tendon.sandboxes.list, retry: false, refetchInterval: 10_000 });
  const onSettled = () => queries.invalidateQueries({ queryKey });
  const stop = useMutation({ mutationFn: tendon.sandboxes.stop, onSettled });
  const reclaim = useMutation({ mutationFn: tendon.sandboxes.reclaim, onSettled });
  return (
    <ListSection
      title={t('Sandboxes')}
      about={server?.sandbox?.description ?? t('Commands run in them; an idle one is suspended, and the next command wakes it.')}
      list={sandboxes}
      none={t('No sandbox runs. One starts with the first command of a conversation.')}
      problem={stop.error ?? reclaim.error}
      after={
        <div className="flex items-center gap-2">
          <Button look="line" isBusy={reclaim.isPending} onClick={() => reclaim.mutate()}>
            {t('Remove what nobody uses')}
          </Button>
          <span role="status" className="text-small text-ink-2">
            {reclaim.isSuccess && t('{{n}} removed', { n: reclaim.data.reaped })}
          </span>
        </div>
      }
    >
      {(sandbox) => (
        <li key={`${sandbox.conversation_id} ${sandbox.incarnation}`}>
          <Link className="truncate" to={paths.conversation(sandbox.conversation_id)}>
            {sandbox.title ?? sandbox.conversation_id}
          </Link>
          <span className="text-small text-ink-3">{wordsOf(sandbox)}</span>
          <span className="flex-1" />
          <Button
            small
            look="line"
            aria-label={t('Stop the sandbox of {{title}}', { title: sandbox.title ?? sandbox.conversation_id })}
            isBusy={stop.isPending && stop.variables === sandbox.conversation_id}
            onClick={() => stop.mutate(sandbox.conversation_id)}
          >
            {t('Stop')}
          </Button>
        </li>
      )}
    </ListSection>
  );
}

/** States in the spelling of the wire. */
const STATES: ReadonlyMap<SandboxInfo['state'], PlainText> = new Map([
  ['starting', textKey('starting')],
  ['awake', textKey('running')],
  ['asleep', textKey('suspended')],
  ['dead', textKey('ended by itself')],
  ['ended', textKey('only its files are left')],
] as const);

function wordsOf({ state, uptime_seconds: up, memory_bytes: memory, disk_bytes: disk, disk_is_complete: isAll }: SandboxInfo): string {
  const used = { state: t(STATES.get(state)!), time: elapsed(up * 1000), memory: sizeWords(memory), disk: sizeWords(disk) };
  return isAll
    ? t('{{state}} for {{time}}, {{memory}} of memory, {{disk}} on disk', used)
    : t('{{state}} for {{time}}, {{memory}} of memory, over {{disk}} on disk', used);
}
