import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ChangeConfirmation, ConfirmationMode, ConversationConfirmation } from '@tendon/protocol';
import { Link } from '../../ui/link.tsx';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { RuleList } from '../rule-list.tsx';
import { ApprovalChoice, ASKS_BEFORE, JUDGES } from '../settings/approval-choice.tsx';
import { CHOSEN_BY } from './conversation-models.tsx';

const MODES: Readonly<Record<ConfirmationMode, PlainText>> = {
  always: textKey('Everything that may do harm waits for you.'),
  rules: textKey('What no rule allows waits for you.'),
  risk: textKey('What is risky waits for you.'),
  never: textKey('Only what a rule asks about waits for you.'),
};

/** The choice of nothing of its own. */
const AS_USUAL = '';
const ALL_CONVERSATIONS = { [AS_USUAL]: textKey('As for all conversations') };

type PolicyChange = Pick<ChangeConfirmation, 'policy' | 'analyzer'>;

/** What waits for a person in this conversation, who chose that, and the rules that were saved for it. */
export function ConversationApprovalsSection() {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const queryKey = ['confirmation', id, 'mode'];
  const { data, error } = useQuery({ queryKey, queryFn: () => tendon.conversations.confirmation(id), retry: false, staleTime: 0 });
  const change = useMutation({
    mutationFn: (changed: PolicyChange) => tendon.conversations.setPolicy(id, changed),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  const problem = error ?? change.error;
  return (
    <section aria-label={t('Approvals')}>
      <h2>{t('Approvals')}</h2>
      {data && <Policy now={data} onChange={change.mutate} />}
      {problem && (
        <p role="alert" className="tone-bad">
          {problem.message}
        </p>
      )}
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

interface PolicyProps {
  readonly now: ConversationConfirmation;
  readonly onChange: (changed: PolicyChange) => void;
}

function Policy({ now: { mode, mode_by, analyzer, analyzer_by }, onChange }: PolicyProps) {
  const analyzers = useQuery({ queryKey: ['analyzers'], queryFn: tendon.options.securityAnalyzers, staleTime: 60_000, retry: false });
  const judge = JUDGES[analyzer];
  return (
    <>
      <p>
        {t(MODES[mode])} <span className="text-small text-ink-3">{t(CHOSEN_BY[mode_by])}</span>
      </p>
      <ApprovalChoice
        label={t('Agents ask before')}
        value={mode_by === 'conversation' ? mode : AS_USUAL}
        options={{ ...ALL_CONVERSATIONS, ...ASKS_BEFORE }}
        names={[AS_USUAL, ...Object.keys(ASKS_BEFORE)]}
        onChange={(next) => onChange({ policy: next === AS_USUAL ? null : (next as ConfirmationMode) })}
      />
      {mode === 'risk' && (
        <>
          <ApprovalChoice
            label={t('Who judges the risk')}
            value={analyzer_by === 'conversation' ? analyzer : AS_USUAL}
            options={{ ...ALL_CONVERSATIONS, ...JUDGES }}
            names={[AS_USUAL, ...(analyzers.data ?? [analyzer])]}
            onChange={(next) => onChange({ analyzer: next === AS_USUAL ? null : next })}
          />
          <p className="text-small text-ink-3">
            {judge ? t(judge) : analyzer}, {t(CHOSEN_BY[analyzer_by])}
          </p>
        </>
      )}
      <p className="text-small text-ink-3">
        {t('A change counts from the next action on; what waits runs at once where it is allowed by then.')}
      </p>
    </>
  );
}
