import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TriggerInfo } from '@tendon/protocol';
import { useState } from 'react';
import { Link } from 'react-router';
import { ago } from '../../copy/figures.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';

const queryKey = ['triggers'];

/** What starts conversations by itself, each with its last delivery; it can be paused and removed. */
export function TriggerList() {
  const queries = useQueryClient();
  const triggers = useQuery({ queryKey, queryFn: tendon.triggers.list, retry: false });
  const onSettled = () => queries.invalidateQueries({ queryKey });
  const enable = useMutation({ mutationFn: ({ id, enabled }: TriggerInfo) => tendon.triggers.enable(id, !enabled), onSettled });
  const remove = useMutation({ mutationFn: tendon.triggers.remove, onSettled });
  const problem = remove.error ?? enable.error ?? triggers.error;
  return (
    <section className="setting" aria-labelledby="triggers-heading">
      <h2 id="triggers-heading">Triggers</h2>
      <p className="text-ink-2">They start conversations by themselves: at a time, when a webhook is called, or by a mention.</p>
      {problem && (
        <p role="alert" className="tone-bad">
          {problem.message}
        </p>
      )}
      {triggers.isPending && <Late>Reading the triggers</Late>}
      {triggers.data?.length === 0 && (
        <p className="text-ink-2">
          There is no trigger. <code>tendon triggers add</code> makes one.
        </p>
      )}
      {triggers.data && triggers.data.length > 0 && (
        <ul aria-label="Triggers">
          {triggers.data.map((trigger) => (
            <TriggerRow
              key={trigger.id}
              trigger={trigger}
              onPause={() => enable.mutate(trigger)}
              onRemove={() => remove.mutate(trigger.id)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

interface TriggerRowProps {
  readonly trigger: TriggerInfo;
  readonly onPause: () => void;
  readonly onRemove: () => void;
}

function TriggerRow({ trigger, onPause, onRemove }: TriggerRowProps) {
  const [isAsked, setAsked] = useState(false);
  const { id, name, enabled } = trigger;
  const last = useQuery({
    queryKey: [...queryKey, id],
    queryFn: async () => (await tendon.triggers.lastDelivery(id)) ?? null,
    retry: false,
  });
  return (
    <li>
      <span className="truncate">{name}</span>
      <span className="truncate text-small text-ink-3">
        {kindWords(trigger)}
        {enabled ? '' : ', paused'}
        {last.data === null && ', never fired'}
        {last.data && `, ${last.data.state} ${ago(last.data.received_at, Date.now())}`}
      </span>
      {last.data?.conversation_id && (
        <Link className="text-small" to={paths.conversation(last.data.conversation_id)}>
          Conversation
        </Link>
      )}
      <span className="flex-1" />
      <Button small look="line" aria-label={`${enabled ? 'Pause' : 'Resume'}: ${name}`} onClick={onPause}>
        {enabled ? 'Pause' : 'Resume'}
      </Button>
      <Button
        small
        look="line"
        aria-label={`${isAsked ? 'Remove for good' : 'Remove'}: ${name}`}
        onClick={isAsked ? onRemove : () => setAsked(true)}
        onBlur={() => setAsked(false)}
      >
        {isAsked ? 'Remove for good' : 'Remove'}
      </Button>
    </li>
  );
}

function kindWords({ kind, schedule }: TriggerInfo): string {
  return kind === 'schedule' && schedule ? `schedule ${schedule.cron}` : KINDS[kind];
}

const KINDS: Readonly<Record<TriggerInfo['kind'], string>> = {
  webhook: 'webhook',
  schedule: 'schedule',
  github: 'mention on GitHub',
  gitlab: 'mention on GitLab',
};
