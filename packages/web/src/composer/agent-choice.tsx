import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bot } from 'lucide-react';
import { agentsQuery, settingsQuery } from '../lib/queries.ts';
import { tendon } from '../lib/tendon.ts';
import { ChoicePopup } from '../ui/choice-popup.tsx';

export function AgentChoice({ side, bare }: { readonly side?: 'above' | 'below'; readonly bare?: boolean }) {
  const queries = useQueryClient();
  const agents = useQuery(agentsQuery);
  const settings = useQuery(settingsQuery);
  const change = useMutation({
    mutationFn: (name: string) => tendon.settings.patch({ agent: name }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  const value = settings.data?.agent || 'CodeActAgent';
  return (
    <ChoicePopup
      label="Agent"
      {...(!bare && { icon: Bot })}
      {...(side && { side })}
      value={value}
      shown={value.replace(/Agent$/, '')}
      options={agents.data ?? [value]}
      onChoose={(name) => change.mutate(name)}
    />
  );
}
