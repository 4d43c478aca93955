import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SettingsPatch } from '@tendon/client';
import type { ConfirmationMode } from '@tendon/protocol';
import { settingsQuery, tendon } from '../../lib/server.ts';

const MODES: Readonly<Record<ConfirmationMode, string>> = {
  always: 'Everything that may do harm',
  rules: 'What no rule allows',
  risk: 'What is risky',
  never: 'Only what a rule asks about',
};

const ANALYZERS: Readonly<Record<string, string>> = {
  rules: 'Rules of the server',
  llm: 'The model of the agent, for its own actions',
  model: 'The small model',
  invariant: 'A server of Invariant',
};

/** What waits for a person, and who judges what is risky. */
export function AskingSection() {
  const queries = useQueryClient();
  const settings = useQuery(settingsQuery);
  const analyzers = useQuery({ queryKey: ['analyzers'], queryFn: tendon.options.securityAnalyzers, staleTime: 60_000, retry: false });
  const change = useMutation({
    mutationFn: (changes: SettingsPatch) => tendon.settings.patch(changes),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  if (settings.isPending || !analyzers.data) return null;
  const { confirmation_policy: policy = null, confirmation_mode: isOn, security_analyzer: analyzer = null } = settings.data ?? {};
  const known = analyzers.data.find((name) => name === analyzer);
  const mode = policy ?? (!isOn ? 'never' : known === undefined ? 'rules' : 'risk');
  return (
    <section className="setting" aria-labelledby="asking-heading">
      <h2 id="asking-heading">What waits for you</h2>
      <Choice
        label="Agents ask before"
        value={mode}
        options={MODES}
        names={Object.keys(MODES)}
        onChange={(next) => change.mutate({ confirmation_policy: next as ConfirmationMode })}
      />
      {mode === 'risk' && (
        <Choice
          label="Who judges the risk"
          value={known ?? 'rules'}
          options={ANALYZERS}
          names={analyzers.data}
          onChange={(next) => change.mutate({ security_analyzer: next })}
        />
      )}
      <p className="text-small text-ink-3">Conversations that were created with a choice of their own stay with it.</p>
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
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (name: string) => void;
}

function Choice({ label, value, names, options, onChange }: ChoiceProps) {
  return (
    <label className="flex items-center gap-2">
      <span className="text-ink-2">{label}</span>
      <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {options[name] ?? name}
          </option>
        ))}
      </select>
    </label>
  );
}
