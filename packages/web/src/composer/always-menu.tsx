import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConfirmationRule } from '@tendon/protocol';
import { useId, useState } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { ruleWords } from '../copy/rule-words.ts';
import { t } from '../lib/language/text.ts';
import { conversationQuery, tendon } from '../lib/server.ts';
import { whoAmIQuery } from '../lib/who-am-i.ts';
import { Button } from '../ui/button.tsx';
import { focusOnMount } from '../ui/popup.tsx';

type Scope = 'conversation' | 'repository' | 'everywhere';

interface AlwaysMenuProps {
  /** What its button controls. */
  readonly id: string;
  readonly rules: readonly ConfirmationRule[];
  readonly isNew: boolean;
  readonly onApprove: () => void;
  readonly onClose: () => void;
}

/** Where the rules that would allow the action are to hold: each is shown as it is saved, with what it would have decided before. */
export function AlwaysMenu({ id: menu, rules, isNew, onApprove, onClose }: AlwaysMenuProps) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const [scope, setScope] = useState<Scope>('conversation');
  const repository = useQuery(conversationQuery(id)).data?.selected_repository ?? undefined;
  const save = useMutation({
    mutationFn: () => saveRules(id, rules, scope),
    onSuccess: async () => {
      onApprove();
      await queries.invalidateQueries({ queryKey: ['rules'] });
    },
  });
  const close = () => {
    document.querySelector<HTMLElement>(`[aria-controls="${menu}"]`)?.focus();
    onClose();
  };
  return (
    <form
      id={menu}
      className="flex basis-full flex-col gap-2 pt-1"
      aria-label={t('Always allow')}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isNew && !save.isPending) save.mutate();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      }}
    >
      <ul aria-label={t('Rules')}>
        {rules.map((rule) => (
          <li key={ruleWords(rule)}>
            {t('Always allow')} <code className="wrap-anywhere">{ruleWords(rule)}</code>{' '}
            {scope === 'repository' && repository !== undefined && t('in {{repository}}', { repository })}
          </li>
        ))}
      </ul>
      <ScopeChoice scope={scope} repository={repository} onChoose={setScope} />
      <Proof id={id} rules={rules} />
      {save.error && (
        <p role="alert" className="text-small text-bad">
          {save.error.message}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="line" aria-disabled={isNew} isBusy={save.isPending}>
          {t('Save and approve')}
        </Button>
        <Button onClick={close}>{t('Back')}</Button>
      </div>
    </form>
  );
}

interface ScopeChoiceProps {
  readonly scope: Scope;
  /** Of the conversation, if it has one. */
  readonly repository: string | undefined;
  readonly onChoose: (scope: Scope) => void;
}

/** What holds in other conversations is offered to those alone who may save it. */
function ScopeChoice({ scope, repository, onChoose }: ScopeChoiceProps) {
  const name = useId();
  const mayChange = useQuery(whoAmIQuery).data?.administers_server === true;
  const choices: readonly (readonly [Scope, string])[] = [
    ['conversation', t('In this conversation')],
    ...(mayChange && repository !== undefined
      ? [['repository', t('In all conversations with {{repository}}', { repository })] as const]
      : []),
    ...(mayChange ? [['everywhere', t('In all conversations')] as const] : []),
  ];
  return (
    <fieldset className="setting-choice">
      <legend className="sr-only">{t('Where it holds')}</legend>
      {choices.map(([value, words]) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            checked={value === scope}
            ref={value === 'conversation' ? focusOnMount : undefined}
            onChange={() => onChoose(value)}
          />
          <span className="wrap-anywhere">{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Counted by the server, which judges actions: a second judgement here could be another. */
function Proof({ id, rules }: { readonly id: string; readonly rules: readonly ConfirmationRule[] }) {
  const { data, isError } = useQuery({
    queryKey: ['confirmation', id, 'trial', rules],
    queryFn: () => tendon.conversations.tryRules(id, rules),
    retry: false,
    staleTime: 0,
  });
  return (
    <p role="status" className="text-small">
      {isError && t('It is not known what this would have allowed before.')}
      {data?.decisions === 0 && t('You have decided nothing in this conversation before.')}
      {data && data.decisions > 0 && (
        <>
          {t('Would have allowed {{allowed}} of your last {{count}} decisions here.', { allowed: data.allowed, count: data.decisions })}{' '}
          {data.rejected > 0 && t('Of these you had rejected {{rejected}}.', { rejected: data.rejected })}
          {data.allowed > 0 && data.rejected === 0 && t('Of these you had rejected none.')}
        </>
      )}
    </p>
  );
}

async function saveRules(id: string, rules: readonly ConfirmationRule[], scope: Scope): Promise<void> {
  if (scope === 'conversation') await tendon.conversations.addRules(id, rules);
  // One by one: each is a change of the settings, and one that is there already changes nothing.
  else for (const rule of rules) await tendon.conversations.alwaysAllow(id, { rule, scope });
}
