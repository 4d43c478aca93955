import { useQuery } from '@tanstack/react-query';
import { isDemoModel } from './demo-model.ts';
import { serverInfoQuery, settingsQuery } from './queries.ts';

/** The model that the next answer comes from, and whether it is the scripted demonstration; `undefined` while that is not known. */
export function useModelInUse(): { readonly name: string; readonly isDemo: boolean; readonly label: string } | undefined {
  const settings = useQuery(settingsQuery);
  const info = useQuery(serverInfoQuery);
  if (settings.isPending || info.isPending) return undefined;
  const name = settings.data?.llm_model || info.data?.model || 'demo';
  const isDemo = isDemoModel(name);
  return { name, isDemo, label: isDemo ? 'Demo model' : name };
}
