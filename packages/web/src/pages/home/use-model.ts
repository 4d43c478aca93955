import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SettingsPatch } from '@tendon/client';
import { tendon } from '../../lib/tendon.ts';

/** Stores a model with what it needs; from then on the server uses it. */
export function useModel() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (settings: SettingsPatch) => tendon.settings.patch(settings),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
}
