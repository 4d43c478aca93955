import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConfirmationRule, SavedRules } from '@tendon/protocol';
import { ruleWords } from '../copy/rule-words.ts';
import { Button } from '../ui/button.tsx';
import { Late } from '../ui/placeholder.tsx';
import { type PlainText, t, textKey } from '../lib/language/text.ts';

interface RuleListProps {
  readonly queryKey: readonly string[];
  readonly list: () => Promise<SavedRules['rules']>;
  readonly remove: (rule: string) => Promise<unknown>;
  /** Where there is none. */
  readonly none: string;
}

/** Saved rules, each with what it decides and a button that takes it back. */
export function RuleList({ queryKey, list, remove, none }: RuleListProps) {
  const queries = useQueryClient();
  const rules = useQuery({ queryKey, queryFn: list, retry: false });
  const revoke = useMutation({ mutationFn: remove, onSettled: () => queries.invalidateQueries({ queryKey }) });
  const problem = revoke.error ?? rules.error;
  return (
    <>
      {problem && (
        <p role="alert" className="tone-bad">
          {problem.message}
        </p>
      )}
      {rules.isPending && <Late>{t('Reading the rules')}</Late>}
      {rules.data?.length === 0 && <p className="text-ink-2">{none}</p>}
      {rules.data && rules.data.length > 0 && (
        <ul aria-label={t('Rules')}>
          {rules.data.map(({ id, rule }) => (
            <li key={id}>
              <span>{t(DECISIONS[rule.decision])}</span>
              <code className="truncate" title={ruleWords(rule)}>
                {ruleWords(rule)}
              </code>
              {rule.repository !== undefined && (
                <span className="truncate text-small text-ink-3">{t('in {{repository}}', { repository: rule.repository })}</span>
              )}
              <span className="flex-1" />
              <Button
                small
                look="line"
                aria-label={t('Revoke: {{decision}} {{rule}}', { decision: t(DECISIONS[rule.decision]), rule: ruleWords(rule) })}
                isBusy={revoke.isPending && revoke.variables === id}
                onClick={() => revoke.mutate(id)}
              >
                {t('Revoke')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const DECISIONS: Readonly<Record<ConfirmationRule['decision'], PlainText>> = {
  allow: textKey('Always allow'),
  ask: textKey('Always ask'),
  deny: textKey('Never run'),
};
