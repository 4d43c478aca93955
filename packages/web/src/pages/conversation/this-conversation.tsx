import { useQuery } from '@tanstack/react-query';
import type { NetworkMode } from '@tendon/protocol';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { ConversationApprovalsSection } from './conversation-approvals.tsx';
import { ConversationModelsSection } from './conversation-models.tsx';
import { Link } from '../../ui/link.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const REACH: Readonly<Record<NetworkMode, PlainText>> = {
  full: textKey('Commands reach the public internet.'),
  allowlist: textKey('Commands reach package registries, git hosts and the hosts of the list; others ask you.'),
  none: textKey('Commands reach nothing.'),
};

/** Models, approvals, saved rules and the network of the open conversation, each with the way to where it is chosen for all. */
export function ThisConversation() {
  return (
    <div className="shares">
      <ConversationModelsSection />
      <ConversationApprovalsSection />
      <Network />
    </div>
  );
}

function Network() {
  const { id } = useConversationActs();
  const { data, error } = useQuery({
    queryKey: ['network', id],
    queryFn: () => tendon.conversations.network(id),
    retry: false,
    staleTime: 0,
  });
  return (
    <section aria-label={t('Network')}>
      <h2>{t('Network')}</h2>
      {error && <p className="tone-bad">{error.message}</p>}
      {data && (
        <>
          <p>{t(REACH[data.mode])}</p>
          {data.mode === 'allowlist' && data.allow.length > 0 && (
            <p className="text-ink-2">{t('On the list: {{hosts}}', { hosts: data.allow.join(', ') })}</p>
          )}
          {data.refused.length > 0 && (
            <ul aria-label={t('Refused')}>
              {data.refused.map(({ host, port, reason, count }) => (
                <li key={`${host} ${port}`}>
                  <code className="truncate">{host}</code>
                  <span className="flex-1" />
                  <span className="text-small text-ink-3">{t('refused {{n}}×: {{reason}}', { n: count, reason })}</span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <p className="text-small">
        <Link to={paths.settingsPage('network')}>{t('Network of all conversations')}</Link>
      </p>
    </section>
  );
}
