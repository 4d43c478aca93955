import { useQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { Link } from 'react-router';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Popup } from '../../ui/popup.tsx';
import { RuleList } from '../rule-list.tsx';

/** What was allowed with “Always here”. Nothing while there is none, and on servers without rules. */
export function RulesPopup() {
  const { id } = useConversationActs();
  const queryKey = ['rules', id];
  const list = () => tendon.conversations.rules(id);
  const { data = [] } = useQuery({ queryKey, queryFn: list, retry: false });
  if (data.length === 0) return null;
  return (
    <Popup
      label="Rules of this conversation"
      align="end"
      button={(popup) => (
        <IconButton label="Rules of this conversation" {...popup}>
          <Icon of={ShieldCheck} />
        </IconButton>
      )}
    >
      {() => (
        <div className="shares">
          <p>These run, ask or are refused in this conversation alone.</p>
          <RuleList queryKey={queryKey} list={list} remove={(rule) => tendon.conversations.removeRule(id, rule)} none="No rule is left." />
          <p className="text-small">
            <Link to={paths.settings}>Rules of all conversations</Link>
          </p>
        </div>
      )}
    </Popup>
  );
}
