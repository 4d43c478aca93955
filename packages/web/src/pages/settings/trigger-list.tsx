import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TriggerInfo } from '@tendon/protocol';
import { useState } from 'react';
import { ago } from '../../copy/figures.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Link } from '../../ui/link.tsx';
import { SectionHeading } from './section-heading.tsx';
import { type PlainText, t, textKey, tx } from '../../lib/language/text.ts';

const queryKey = ['triggers'];

/** The triggers, each with its last delivery and buttons to pause and remove it. */
export function TriggerList() {
  const queries = useQueryClient();
  const triggers = useQuery({ queryKey, queryFn: tendon.triggers.list, retry: false });
  const onSettled = () => queries.invalidateQueries({ queryKey });
  const enable = useMutation({ mutationFn: ({ id, enabled }: TriggerInfo) => tendon.triggers.enable(id, !enabled), onSettled });
  const remove = useMutation({ mutationFn: tendon.triggers.remove, onSettled });
  const problem = remove.error ?? enable.error ?? triggers.error;
  return (
    <section className="setting" aria-labelledby="triggers-heading">
      <SectionHeading id="triggers-heading" title={t('Triggers')} />
      <p className="text-ink-2">{t('They start conversations by themselves: at a time, when a webhook is called, or by a mention.')}</p>
      {problem && (
        <p role="alert" className="tone-bad">
          {problem.message}
        </p>
      )}
      {triggers.isPending && <Late>{t('Reading the triggers')}</Late>}
      {triggers.data?.length === 0 && (
        <p className="text-ink-2">{tx('There is no trigger. {{command}} makes one.', { command: <code>tendon triggers add</code> })}</p>
      )}
      {triggers.data && triggers.data.length > 0 && (
        <ul aria-label={t('Triggers')}>
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
        {enabled ? '' : t(', paused')}
        {last.data === null && t(', never fired')}
        {last.data && `, ${t(DELIVERY[last.data.state])} ${ago(last.data.received_at, Date.now())}`}
      </span>
      {last.data?.conversation_id && (
        <Link className="text-small" to={paths.conversation(last.data.conversation_id)}>
          {t('Conversation')}
        </Link>
      )}
      <span className="flex-1" />
      <Button small look="line" aria-label={`${enabled ? t('Pause') : t('Resume')}: ${name}`} onClick={onPause}>
        {enabled ? t('Pause') : t('Resume')}
      </Button>
      <Button
        small
        look="line"
        aria-label={`${isAsked ? t('Remove for good') : t('Remove')}: ${name}`}
        onClick={isAsked ? onRemove : () => setAsked(true)}
        onBlur={() => setAsked(false)}
      >
        {isAsked ? t('Remove for good') : t('Remove')}
      </Button>
    </li>
  );
}

function kindWords({ kind, schedule }: TriggerInfo): string {
  return kind === 'schedule' && schedule ? t('schedule {{cron}}', { cron: schedule.cron }) : t(KINDS[kind]);
}

const DELIVERY = {
  accepted: textKey('accepted'),
  working: textKey('working'),
  posting: textKey('posting'),
  done: textKey('done'),
  ignored: textKey('ignored'),
  failed: textKey('failed'),
} as const;

const KINDS: Readonly<Record<TriggerInfo['kind'], PlainText>> = {
  webhook: textKey('webhook'),
  schedule: textKey('schedule'),
  github: textKey('mention on GitHub'),
  gitlab: textKey('mention on GitLab'),
};
