import { notifications, useNotifications } from '../../lib/notifications.ts';
import { Button } from '../../ui/button.tsx';
import { t, textKey } from '../../lib/language/text.ts';

/** Asks for the permission only when the button is pressed. */
export function NotificationSetting() {
  const state = useNotifications();
  return (
    <section className="setting" aria-labelledby="notifications-heading">
      <h2 id="notifications-heading">{t('When something needs you')}</h2>
      <p className="text-ink-2">
        {t('While a page of this server is open and hidden, this browser shows what waits for your decision or answer, and leads there.')}
      </p>
      <p role="status">{t(WORDS[state])}</p>
      {(state === 'on' || state === 'off') && (
        <span>
          <Button look="line" onClick={() => void notifications.turn(state === 'off')}>
            {state === 'on' ? t('Turn notifications off') : t('Turn notifications on')}
          </Button>
        </span>
      )}
    </section>
  );
}

const WORDS = {
  on: textKey('Notifications are on.'),
  off: textKey('Notifications are off.'),
  refused: textKey('This browser refuses notifications from here. Its own settings for this site change that.'),
  impossible: textKey('This browser shows notifications only over https, or from this machine.'),
} as const;
