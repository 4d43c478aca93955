import { useSyncExternalStore } from 'react';
import { t } from './language/text.ts';
import { stored } from './stored.ts';

/** `refused`: by the browser. `impossible`: it has none for pages like this one. */
type NotificationState = 'on' | 'off' | 'refused' | 'impossible';

function state(): NotificationState {
  if (typeof Notification === 'undefined' || !globalThis.isSecureContext) return 'impossible';
  if (Notification.permission === 'denied') return 'refused';
  return Notification.permission === 'granted' && stored.get('notifications') === 'on' ? 'on' : 'off';
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function useNotifications(): NotificationState {
  return useSyncExternalStore(subscribe, state);
}

/** What is shown, and handed back when it is chosen: nothing secret, for the browser stores it. */
export interface Notice {
  /** Where it leads. */
  readonly path: string;
  /** An action that may be approved and rejected from the notification itself. */
  readonly decision?: { readonly conversationId: string; readonly eventId: number };
}

/** `open`: the notification itself was chosen, not one of its buttons. */
type Chosen = 'open' | 'approve' | 'reject';

interface Shown extends Notice {
  readonly body: string;
  /** With the same one it replaces what was shown. */
  readonly tag: string;
}

export type OnChosen = (notice: Notice, chosen: Chosen) => void;

/** Whether this browser shows what waits for a person. */
export const notifications = {
  /** Resolves with how they are then. */
  async turn(isOn: boolean): Promise<NotificationState> {
    if (isOn) await Notification.requestPermission();
    stored.set('notifications', isOn ? 'on' : null);
    for (const listener of listeners) listener();
    return state();
  },

  /** By the service worker where there is one: browsers of phones have them for it alone, and only its notifications have buttons. */
  async show(title: string, { body, tag, ...notice }: Shown, onChosen: OnChosen): Promise<void> {
    const looks = { body, tag, icon: '/icon-192.png' };
    const worker = await navigator.serviceWorker?.getRegistration();
    if (worker?.active) {
      const buttons = [
        { action: 'approve', title: t('Approve') },
        { action: 'reject', title: t('Reject') },
      ];
      const options = { ...looks, data: notice, actions: notice.decision ? buttons : [] };
      return worker.showNotification(title, options);
    }
    const shown = new Notification(title, looks);
    shown.addEventListener('click', () => {
      globalThis.focus();
      shown.close();
      onChosen(notice, 'open');
    });
  },

  /** What is chosen in the worker's notifications; the returned function ends it. */
  onChosen(listener: OnChosen): () => void {
    const onMessage = ({ data }: MessageEvent<{ readonly notice?: Notice; readonly chosen: Chosen }>) => {
      if (data.notice) listener(data.notice, data.chosen);
    };
    navigator.serviceWorker?.addEventListener('message', onMessage);
    return () => navigator.serviceWorker?.removeEventListener('message', onMessage);
  },
};
