import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import { conversationQuery } from '../../lib/queries.ts';
import { NotFound } from '../not-found.tsx';
import { Late } from '../../ui/late.tsx';
import { ConversationScreen } from './conversation-screen.tsx';
import { useConnection } from './use-connection.ts';

export function ConversationPage() {
  const { conversationId = '' } = useParams();
  const open = useConnection(conversationId);
  const info = useQuery(conversationQuery(conversationId));
  if (info.data === null || (open?.snapshot.connection.state === 'refused' && open.snapshot.connection.cause === 'unknown-conversation'))
    return <NotFound />;
  if (!open) {
    return (
      <main className="notice">
        <Late>Opening the conversation</Late>
      </main>
    );
  }
  return <ConversationScreen key={conversationId} id={conversationId} info={info.data} {...open} />;
}
