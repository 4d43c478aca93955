import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { PushDevice } from '@tendon/protocol';
import { dayAndClock } from '../../copy/figures.ts';
import { noticeWords } from '../../copy/notice-words.ts';
import { SectionHeading } from './section-heading.tsx';
import { t, textKey } from '../../lib/language/text.ts';
import { notifications, useNotifications } from '../../lib/notifications.ts';
import { pushDevice } from '../../lib/push-device.ts';
import { homeServer } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { ListSection } from './list-section.tsx';

const queryKey = ['push-devices'];

/** Asks for the permission only when the button is pressed. */
export function NotificationSetting() {
  const state = useNotifications();
  const queries = useQueryClient();
  const possible = useQuery({ queryKey: ['push-possible'], queryFn: pushDevice.isPossible });
  const onSettled = () => queries.invalidateQueries({ queryKey });
  const push = useMutation({ mutationFn: () => pushDevice.add(noticeWords()), onSettled });
  const turn = useMutation({
    mutationFn: async (isOn: boolean) => {
      if (!isOn) await pushDevice.remove();
      if ((await notifications.turn(isOn)) === 'on') push.mutate();
    },
    onSettled,
  });
  const isPushed = pushDevice.id !== undefined;
  return (
    <>
      <section className="setting" aria-labelledby="notifications-heading">
        <SectionHeading id="notifications-heading" title={t('When something needs you')} />
        <p className="text-ink-2">
          {t('This device shows what waits for your decision or answer, has ended or has failed. A tap leads there.')}
        </p>
        <p role="status">
          {t(WORDS[state])}
          {state === 'on' &&
            ` ${isPushed ? t('They come also while the app is closed.') : t('They come while a page of this server is open.')}`}
        </p>
        {state === 'impossible' && (
          <p className="text-ink-2">{t('On an iPhone or iPad, add Tendon to the Home Screen first, and turn them on in the app.')}</p>
        )}
        {push.error && (
          <p role="alert" className="tone-bad">
            {push.error.message}
          </p>
        )}
        <span className="flex gap-2">
          {(state === 'on' || state === 'off') && (
            <Button look="line" isBusy={turn.isPending} onClick={() => turn.mutate(state === 'off')}>
              {state === 'on' ? t('Turn notifications off') : t('Turn notifications on')}
            </Button>
          )}
          {state === 'on' && possible.data === true && !isPushed && (
            <Button look="line" isBusy={push.isPending} onClick={() => push.mutate()}>
              {t('Also while the app is closed')}
            </Button>
          )}
        </span>
      </section>
      <PushDevices />
    </>
  );
}

const WORDS = {
  on: textKey('Notifications are on.'),
  off: textKey('Notifications are off.'),
  refused: textKey('This browser refuses notifications from here. Its own settings for this site change that.'),
  impossible: textKey('This browser shows notifications only over https, or from this machine.'),
} as const;

/** Of the person, on every server page alike. */
function PushDevices() {
  const queries = useQueryClient();
  const devices = useQuery({ queryKey, queryFn: async () => (await homeServer.push.list()).devices, retry: false });
  const remove = useMutation({
    mutationFn: ({ id }: PushDevice) => (id === pushDevice.id ? pushDevice.remove() : homeServer.push.remove(id).then(() => undefined)),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <ListSection
      title={t('Your devices')}
      about={t('They are sent notifications while no page is open: the title of the conversation and what happened, nothing else.')}
      list={devices}
      none={t('No device is sent any.')}
      problem={remove.error}
    >
      {(one) => (
        <li key={one.id}>
          <span className="truncate">{one.device}</span>
          <span className="text-small text-ink-3">
            {t('since {{time}}', { time: dayAndClock(one.created_at) })}
            {one.id === pushDevice.id && t(', this device')}
          </span>
          <span className="flex-1" />
          <Button small look="line" aria-label={t('Remove {{name}}', { name: one.device })} onClick={() => remove.mutate(one)}>
            {t('Remove')}
          </Button>
        </li>
      )}
    </ListSection>
  );
}
