import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SettingsPatch } from '@tendon/client';
import type { ConfirmationMode } from '@tendon/protocol';
import { settingsQuery, tendon } from '../../lib/server.ts';
import { SectionHeading } from './section-heading.tsx';
import { t } from '../../lib/language/text.ts';
import { ApprovalChoice, ASKS_BEFORE, JUDGES } from './approval-choice.tsx';

/** Which actions need approval, and what judges their risk. */
export function AskingSection() {
  const queries = useQueryClient();
  const settings = useQuery(settingsQuery);
  const analyzers = useQuery({ queryKey: ['analyzers'], queryFn: tendon.options.securityAnalyzers, staleTime: 60_000, retry: false });
  const change = useMutation({
    // Store one choice after the other, so that the last one wins.
    scope: { id: 'asking' },
    mutationFn: (changes: SettingsPatch) => tendon.settings.patch(changes),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  if (settings.isPending || !analyzers.data) return null;
  const { confirmation_policy: policy = null, confirmation_mode: isOn, security_analyzer: analyzer = null } = settings.data ?? {};
  const known = analyzers.data.find((name) => name === analyzer);
  const mode = policy ?? (!isOn ? 'never' : known === undefined ? 'rules' : 'risk');
  return (
    <section className="setting" aria-labelledby="asking-heading">
      <SectionHeading id="asking-heading" title={t('What waits for you')} />
      <ApprovalChoice
        label={t('Agents ask before')}
        value={mode}
        options={ASKS_BEFORE}
        names={Object.keys(ASKS_BEFORE)}
        onChange={(next) => change.mutate({ confirmation_policy: next as ConfirmationMode })}
      />
      {mode === 'risk' && (
        <ApprovalChoice
          label={t('Who judges the risk')}
          value={known ?? 'rules'}
          options={JUDGES}
          names={analyzers.data}
          onChange={(next) => change.mutate({ security_analyzer: next })}
        />
      )}
      <p className="text-small text-ink-3">{t('Conversations that were created with a choice of their own stay with it.')}</p>
      {change.error && (
        <p role="alert" className="tone-bad">
          {change.error.message}
        </p>
      )}
    </section>
  );
}
