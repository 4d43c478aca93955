import { X } from 'lucide-react';
import { useConversation } from '../conversation/conversation-context.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

/** What the server answered to something sent from here, where it was sent from. */
export function Notices() {
  const { snapshot, connection } = useConversation();
  const notice = snapshot.notices.at(-1);
  if (!notice) return null;
  return (
    <p role="alert" className="flex items-center gap-2 pb-2 pl-1 text-bad">
      <span className="flex-1">{notice.message}</span>
      <IconButton small label="Dismiss" onClick={() => connection.dismiss(notice.id)}>
        <Icon of={X} small />
      </IconButton>
    </p>
  );
}
