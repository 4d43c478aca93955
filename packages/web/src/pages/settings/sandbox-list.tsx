import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SandboxInfo } from '@tendon/protocol';
import { Link } from 'react-router';
import { sizeWords, elapsed } from '../../copy/figures.ts';
import { paths } from '../../lib/paths.ts';
import { serverInfoQuery, tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { ListSection } from './list-section.tsx';

const queryKey = ['sandboxes'];

/** What runs commands, what it uses, and its end. */
export function SandboxSettings() {
  const queries = useQueryClient();
  const { data: server } = useQuery(serverInfoQuery);
  const sandboxes = useQuery({ queryKey, queryFn: tendon.sandboxes.list, retry: false, refetchInterval: 10_000 });
  const onSettled = () => queries.invalidateQueries({ queryKey });
  const stop = useMutation({ mutationFn: tendon.sandboxes.stop, onSettled });
  const reclaim = useMutation({ mutationFn: tendon.sandboxes.reclaim, onSettled });
  return (
    <ListSection
      title="Sandboxes"
      about={server?.sandbox?.description ?? 'Commands run in them; an idle one is suspended, and the next command wakes it.'}
      list={sandboxes}
      none="No sandbox runs. One starts with the first command of a conversation."
      problem={stop.error ?? reclaim.error}
      after={
        <div className="flex items-center gap-2">
          <Button look="line" disabled={reclaim.isPending} onClick={() => reclaim.mutate()}>
            Remove what nobody uses
          </Button>
          <span role="status" className="text-small text-ink-2">
            {reclaim.isSuccess && `${reclaim.data.reaped} removed`}
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
            aria-label={`Stop the sandbox of ${sandbox.title ?? sandbox.conversation_id}`}
            disabled={stop.isPending && stop.variables === sandbox.conversation_id}
            onClick={() => stop.mutate(sandbox.conversation_id)}
          >
            Stop
          </Button>
        </li>
      )}
    </ListSection>
  );
}

const STATES: ReadonlyMap<SandboxInfo['state'], string> = new Map([
  ['starting', 'starting'],
  ['awake', 'running'],
  ['asleep', 'suspended'],
  ['dead', 'ended by itself'],
  ['ended', 'only its files are left'],
]);

function wordsOf({ state, uptime_seconds: up, memory_bytes: memory, disk_bytes: disk, disk_is_complete: isAll }: SandboxInfo): string {
  return `${STATES.get(state)} for ${elapsed(up * 1000)}, ${sizeWords(memory)} of memory, ${isAll ? '' : 'over '}${sizeWords(disk)} on disk`;
}
