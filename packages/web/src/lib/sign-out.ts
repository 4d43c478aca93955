import { paths } from './paths.ts';
import { serverKey, tendon } from './server.ts';

/** Forgets the key of this browser and ends its session; the page that comes next asks for a key where one is needed. */
export async function signOut(): Promise<void> {
  const ended = await tendon.signOut().catch(() => undefined); // Without a server there is nothing to end.
  serverKey.set(tendon.baseUrl, undefined);
  // Where the identity provider has a session too, it ends there.
  location.assign(ended?.redirect ?? paths.home);
}
