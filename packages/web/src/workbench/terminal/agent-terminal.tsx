import { useEffect, useRef } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { agentSession } from './shell-session.ts';

/** The agent's own terminal while the person has it. It stays while another tab is looked at. */
export function AgentTerminal() {
  const { id } = useConversationActs();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => agentSession(id)?.attach(place.current!), [id]);
  return <div ref={place} className="own-shell" />;
}
