import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SettingsPatch } from '@tendon/client';
import type { ConfirmationMode } from '@tendon/protocol';
import { settingsQuery, tendon } from '../../lib/server.ts';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const MODES: Readonly<Record<ConfirmationMode, PlainText>> = {
  always: textKey('Everything that may do harm'),
  rules: textKey('What no rule allows'),
  risk: textKey('What is risky'),
  never: textKey('Only what a rule asks about'),
};

const ANALYZERS: Readonly<Record<string, PlainText>> = {
  rules: textKey('Rules of the server'),
  llm: textKey('The model of the agent, for its own actions'),
  model: textKey('The small model'),
  invariant: textKey('A server of Invariant'),
};

/** What waits for a person, and who judges what is risky. */
export function AskingSection() {
  const queries = useQueryClient();
  const settings = useQuery(settingsQuery);
  const analyzers = useQuery({ queryKey: ['analyzers'], queryFn: tendon.options.securityAnalyzers, staleTime: 60_000, retry: false });
  const change = useMutation({
    // One after the other: the last choice counts.
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
      <h2 id="asking-heading">{t('What waits for you')}</h2>
      <Choice
        label={t('Agents ask before')}
        value={mode}
        options={MODES}
        names={Object.keys(MODES)}
        onChange={(next) => change.mutate({ confirmation_policy: next as ConfirmationMode })}
      />
      {mode === 'risk' && (
        <Choice
          label={t('Who judges the risk')}
          value={known ?? 'rules'}
          options={ANALYZERS}
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

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  /** What a name means, where the app has words for it. */
  readonly options: Readonly<Record<string, PlainText>>;
  readonly onChange: (name: string) => void;
}

function Choice({ label, value, names, options, onChange }: ChoiceProps) {
  return (
    <label className="flex items-center gap-2">
      <span className="text-ink-2">{label}</span>
      <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {options[name] ? t(options[name]) : name}
          </option>
        ))}
      </select>
    </label>
  );
}
