import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bot, Cpu } from 'lucide-react';
import { agentsQuery, modelsQuery, settingsQuery, tendon, useModelInUse } from '../lib/server.ts';
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

/** The model of the next answer; a change is stored on the server. */
export function ModelChoice({ side, bare }: { readonly side?: 'above' | 'below'; readonly bare?: boolean }) {
  const queries = useQueryClient();
  const models = useQuery(modelsQuery);
  const model = useModelInUse();
  const change = useMutation({
    mutationFn: (name: string) => tendon.settings.patch({ llm_model: name }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  if (!model) return null;
  const options = [...new Set([model.name, ...(models.data ?? [])])];
  return (
    <ChoicePopup
      label="Model"
      {...(!bare && { icon: Cpu })}
      {...(side && { side })}
      value={model.name}
      shown={model.label}
      options={options}
      onChoose={(name) => change.mutate(name)}
    />
  );
}
