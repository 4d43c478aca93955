/**
 * This device as one that the server sends pushes to: the server of this page and no other, because a service worker belongs to its address.
 *
 * PDV1  A device that was removed, on it or on another one, is not added again by itself.
 */
import { homeServer } from './server.ts';
import { stored } from './stored.ts';

/** The id by which the server knows this device, and its address at the push service. */
const NAME = 'push';
/** Read by the service worker, which knows no language. */
const WORDS = 'notification-words';

/** `undefined`: this browser has no push, or not for a page like this one. */
async function pushManager(): Promise<PushManager | undefined> {
  return (await navigator.serviceWorker?.getRegistration())?.pushManager;
}

function known(): { readonly id: string; readonly endpoint: string } | undefined {
  const [id, endpoint] = stored.get(NAME)?.split(' ') ?? [];
  return id && endpoint ? { id, endpoint } : undefined;
}

export const pushDevice = {
  /** Set while the server sends it pushes, as far as this browser knows. */
  get id(): string | undefined {
    return known()?.id;
  },

  isPossible: async (): Promise<boolean> => (await pushManager()) !== undefined,

  /** False: it is not possible. Rejects with what the browser or the server says. `words`: see `storeWords`. */
  async add(words: object): Promise<boolean> {
    const manager = await pushManager();
    if (!manager) return false;
    const { application_server_key } = await homeServer.push.list();
    const applicationServerKey = bytesOf(application_server_key);
    const old = await manager.getSubscription();
    // A browser does not change the server of a subscription.
    if (old && textOf(old.options.applicationServerKey) !== application_server_key) await old.unsubscribe();
    const subscription = await manager.subscribe({ userVisibleOnly: true, applicationServerKey });
    const { endpoint, keys } = subscription.toJSON() as Required<PushSubscriptionJSON>;
    const { id } = await homeServer.push.add({ endpoint, keys: { p256dh: keys['p256dh']!, auth: keys['auth']! }, device: deviceName() });
    stored.set(NAME, `${id} ${endpoint}`);
    await this.storeWords(words);
    return true;
  },

  /** Nothing is sent to it any more, even where the server cannot be reached. */
  async remove(): Promise<void> {
    const now = known();
    stored.set(NAME, null);
    if (!now) return;
    const unsubscribe = async () => (await (await pushManager())?.getSubscription())?.unsubscribe();
    await Promise.allSettled([homeServer.push.remove(now.id), unsubscribe()]);
  },

  /** What changed while no page was open: it was removed on another one, its key has ended, or the browser has given it another address. */
  async renew(words: object): Promise<void> {
    const now = known();
    if (!now) return;
    const { devices } = await homeServer.push.list();
    const isListed = devices.some(({ id }) => id === now.id);
    const subscription = await (await pushManager())?.getSubscription();
    if (subscription?.endpoint === now.endpoint) return isListed ? this.storeWords(words) : this.remove();
    // The old address may be gone from the list by itself: the push service knows it no more.
    if (isListed) await homeServer.push.remove(now.id);
    await this.add(words);
  },

  /** What the service worker says of each moment, in the language of the page. */
  async storeWords(words: object): Promise<void> {
    const cache = await caches.open(WORDS);
    await cache.put(`/${WORDS}`, new Response(JSON.stringify(words)));
  },
};

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
}

/** In base64url. */
function textOf(bytes: ArrayBuffer | null): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes ?? [])));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const BROWSERS = { Edge: /Edg/, Firefox: /Firefox|FxiOS/, Chrome: /Chrome|CriOS/, Safari: /Safari/ };
const SYSTEMS = { iPhone: /iPhone/, iPad: /iPad/, Android: /Android/, Windows: /Windows/, Mac: /Macintosh/, Linux: /Linux/ };

/** So that a person knows it again in a list. */
function deviceName({ userAgent } = navigator): string {
  const nameIn = (names: Readonly<Record<string, RegExp>>) => Object.keys(names).find((name) => names[name]!.test(userAgent));
  const system = nameIn(SYSTEMS);
  return `${nameIn(BROWSERS) ?? 'Browser'}${system ? ` (${system})` : ''}`;
}
