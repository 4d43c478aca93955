import { paths } from './paths.ts';
import { homeServer, serverKey, tendon } from './server.ts';
import { stored } from './stored.ts';

/** Forgets the key of this browser and ends its session; the page that comes next asks for a key where one is needed. */
export async function signOut(): Promise<void> {
  // While its key still holds: who signs in here next is sent nothing of this person.
  if (stored.get('push') !== null && tendon === homeServer)
    await import('./push-device.ts').then(({ pushDevice }) => pushDevice.remove()).catch(() => undefined);
  const ended = await tendon.signOut().catch(() => undefined); // Without a server there is nothing to end.
  serverKey.set(tendon.baseUrl, undefined);
  // Where the identity provider has a session too, it ends there.
  location.assign(ended?.redirect ?? paths.home);
}
