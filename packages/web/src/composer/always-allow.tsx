import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { Suspense, useId, useState } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { ruleWords } from '../copy/rule-words.ts';
import { tendon } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { t } from '../lib/language/text.ts';
import { lazyPart } from '../lib/lazy-part.ts';

const AlwaysMenu = lazyPart(async () => ({ default: (await import('./always-menu.tsx')).AlwaysMenu }));

/**
 * Saves what would allow the action that waits for this conversation, then approves it; a menu beside it saves it for others too. The
 * button names all that it allows; it is not there where no rule could allow the action, and on servers without rules.
 */
export function AlwaysAllow({
  actionId,
  isNew,
  onApprove,
}: {
  readonly actionId: number;
  readonly isNew: boolean;
  readonly onApprove: () => void;
}) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const menu = useId();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ['confirmation', id, actionId],
    queryFn: () => tendon.conversations.confirmation(id),
    retry: false,
  });
  const save = useMutation({
    // Those that the button names: by now another action may wait.
    mutationFn: () => tendon.conversations.addRules(id, data!.suggestions),
    onSuccess: async () => {
      onApprove();
      await queries.invalidateQueries({ queryKey: ['rules', id] });
    },
  });
  if (!data || data.mode === 'always' || data.suggestions.length === 0) return null;
  return (
    <>
      <Button look="line" className="button-whole" aria-disabled={isNew} onClick={() => void (!isNew && !save.isPending && save.mutate())}>
        {t('Always here: {{rules}}', { rules: data.suggestions.map(ruleWords).join(', ') })}
      </Button>
      <Button look="line" aria-expanded={isOpen} aria-controls={menu} onClick={() => setOpen(!isOpen)}>
        {t('Always…')}
        <Icon of={ChevronDown} small />
      </Button>
      {save.error && (
        <p role="alert" className="text-small text-bad">
          {save.error.message}
        </p>
      )}
      {isOpen && (
        <Suspense>
          <AlwaysMenu id={menu} rules={data.suggestions} isNew={isNew} onApprove={onApprove} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
