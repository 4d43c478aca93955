import { useSyncExternalStore } from 'react';
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

/** Whether this browser shows what waits for a person. */
export const notifications = {
  async turn(isOn: boolean): Promise<void> {
    if (isOn) await Notification.requestPermission();
    stored.set('notifications', isOn ? 'on' : null);
    for (const listener of listeners) listener();
  },
  /** With the same `tag` it replaces what was shown. */
  show(title: string, { body, tag, onClick }: { readonly body: string; readonly tag: string; readonly onClick: () => void }): void {
    try {
      const shown = new Notification(title, { body, tag, icon: '/icon.svg' });
      shown.addEventListener('click', () => {
        globalThis.focus();
        shown.close();
        onClick();
      });
    } catch {
      // Browsers of phones have them for service workers alone.
    }
  },
};
