import { useQuery } from '@tanstack/react-query';
import type { ConfirmationMode, NetworkMode } from '@tendon/protocol';
import { useConversation } from '../../conversation/open-conversation.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { ConversationModelsSection } from './conversation-models.tsx';
import { RuleList } from '../rule-list.tsx';
import { Link } from '../../ui/link.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const MODES: Readonly<Record<ConfirmationMode, PlainText>> = {
  always: textKey('Everything that may do harm waits for you.'),
  rules: textKey('What no rule allows waits for you.'),
  risk: textKey('What is risky waits for you.'),
  never: textKey('Only what a rule asks about waits for you.'),
};

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
      <Approvals />
      <Network />
    </div>
  );
}

function Approvals() {
  const { id } = useConversation();
  const { data, error } = useQuery({
    queryKey: ['confirmation', id, 'mode'],
    queryFn: () => tendon.conversations.confirmation(id),
    retry: false,
    staleTime: 0,
  });
  return (
    <section aria-label={t('Approvals')}>
      <h2>{t('Approvals')}</h2>
      {data && <p>{t(MODES[data.mode])}</p>}
      {error && <p className="tone-bad">{error.message}</p>}
      <p className="text-ink-2">{t('Rules that you saved here run, ask or are refused in this conversation alone.')}</p>
      <RuleList
        queryKey={['rules', id]}
        list={() => tendon.conversations.rules(id)}
        remove={(rule) => tendon.conversations.removeRule(id, rule)}
        none={t('None is saved.')}
      />
      <p className="text-small">
        <Link to={paths.settingsPage('approvals')}>{t('Rules of all conversations')}</Link>
      </p>
    </section>
  );
}

function Network() {
  const { id } = useConversation();
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
