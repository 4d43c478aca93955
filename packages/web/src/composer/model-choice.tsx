import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Cpu } from 'lucide-react';
import { useModelInUse } from '../lib/model-in-use.ts';
import { modelsQuery } from '../lib/queries.ts';
import { tendon } from '../lib/tendon.ts';
import { ChoicePopup } from '../ui/choice-popup.tsx';

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
