import type { ConfirmationMode } from '@tendon/protocol';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

export const ASKS_BEFORE: Readonly<Record<ConfirmationMode, PlainText>> = {
  always: textKey('Everything that may do harm'),
  rules: textKey('What no rule allows'),
  risk: textKey('What is risky'),
  never: textKey('Only what a rule asks about'),
};

export const JUDGES: Readonly<Record<string, PlainText>> = {
  rules: textKey('Rules of the server'),
  llm: textKey('The model of the agent, for its own actions'),
  model: textKey('The small model'),
  invariant: textKey('A server of Invariant'),
};

interface ApprovalChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  /** Explains an option, if the app has a text for it. */
  readonly options: Readonly<Record<string, PlainText>>;
  readonly onChange: (name: string) => void;
}

/** A choice between confirmation modes or between security analyzers. */
export function ApprovalChoice({ label, value, names, options, onChange }: ApprovalChoiceProps) {
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
