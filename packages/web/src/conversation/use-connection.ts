import { connect, type ConversationConnection, type ConversationSnapshot } from '@tendon/client';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { tendon } from '../lib/server.ts';

/** How many events a page begins with, the newest; earlier ones are loaded where they are read. */
const TAIL = 200;

/** Steps of a busy agent are drawn five times a second: more often nobody reads them, and each drawing costs about as much. */
const PACE_MS = 200;

/** The connection to one conversation while the page is there, and what it knows. */
export function useConnection(
  id: string,
  share?: string,
): { readonly connection: ConversationConnection; readonly snapshot: ConversationSnapshot } | undefined {
  const [connection, setConnection] = useState<ConversationConnection>();
  useEffect(() => {
    const opened = connect(id, { baseUrl: tendon.baseUrl, apiKey: tendon.apiKey, tail: TAIL, paceMs: PACE_MS, ...(share && { share }) });
    setConnection(opened);
    return () => {
      opened.close();
      setConnection(undefined);
    };
  }, [id, share]);
  const snapshot = useSyncExternalStore(connection?.subscribe ?? subscribeToNothing, () => connection?.getSnapshot());
  return connection && snapshot && { connection, snapshot };
}

const subscribeToNothing = () => () => undefined;
