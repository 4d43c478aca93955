import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { serverInfoQuery } from '../../lib/server.ts';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { SettingField, SettingForm, SettingSection } from './setting-form.tsx';
import { SectionHeading } from './section-heading.tsx';
import { t } from '../../lib/language/text.ts';

interface Limits {
  /** US dollars for one conversation. */
  readonly usd: number | null;
  /** Answers of the model to one message. */
  readonly answers: number | null;
  /** How long to wait for a decision. */
  readonly seconds: number | null;
}

/** When a conversation stops by itself, how long it waits for a decision, and when it is deleted. */
export function LimitsSetting() {
  return (
    <>
      <TaskLimits />
      <RetentionTime />
    </>
  );
}

function TaskLimits() {
  return (
    <SettingSection
      title={t('Limits')}
      about={t('A conversation that reaches one pauses and says so: it goes on when you continue it, or when its budget is raised.')}
    >
      {({ max_budget_per_task: usd = null, max_iterations: answers = null, confirmation_timeout: seconds = null }) => (
        <LimitsForm stored={{ usd, answers, seconds }} />
      )}
    </SettingSection>
  );
}

/** Shows the retention time, which the configuration of the server decides. */
function RetentionTime() {
  const heading = useId();
  const { data: server } = useQuery(serverInfoQuery);
  if (!server) return undefined;
  const { retention_days: days } = server;
  return (
    <section className="setting" aria-labelledby={heading}>
      <SectionHeading id={heading} title={t('Deletion')} />
      <p className="text-ink-2">
        {days === undefined
          ? t('Conversations stay until somebody deletes them.')
          : t('A conversation in which nothing happened for {{count}} days is deleted with all that belongs to it, unless it is pinned.', {
              count: days,
            })}
      </p>
    </section>
  );
}

function LimitsForm({ stored }: { readonly stored: Limits }) {
  const minutesStored = stored.seconds && stored.seconds / 60;
  const draft = useFormDraft({ budget: textOf(stored.usd), steps: textOf(stored.answers), minutes: textOf(minutesStored) });
  const { budget, steps, minutes } = draft.shown;
  const limits: Limits = { usd: numberIn(budget), answers: numberIn(steps), seconds: secondsIn(minutes) };
  const changes = { max_budget_per_task: limits.usd, max_iterations: limits.answers, confirmation_timeout: limits.seconds };
  return (
    <SettingForm draft={draft} changes={areWhole(limits) ? changes : undefined}>
      <SettingField
        label={t('US dollars for one conversation')}
        inputMode="decimal"
        placeholder={t('No limit')}
        value={budget}
        onChange={(event) => draft.write({ budget: event.target.value })}
      />
      <SettingField
        label={t('Answers of the model to one message')}
        inputMode="numeric"
        placeholder="500"
        value={steps}
        onChange={(event) => draft.write({ steps: event.target.value })}
      />
      <SettingField
        label={t('Minutes until an action that nobody decided about is rejected')}
        inputMode="decimal"
        placeholder={t('It waits')}
        value={minutes}
        onChange={(event) => draft.write({ minutes: event.target.value })}
      />
    </SettingForm>
  );
}

function areWhole({ usd, answers, seconds }: Limits): boolean {
  const isCount = answers === null || (Number.isInteger(answers) && answers > 0);
  return (usd ?? 0) >= 0 && isCount && (seconds === null || (seconds > 0 && seconds <= 1_000_000));
}

const textOf = (value: number | null): string => (value === null ? '' : String(value));

/** `null` for an empty field; NaN for anything that is not a number, which no limit accepts. */
function numberIn(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

function secondsIn(text: string): number | null {
  const minutes = numberIn(text);
  return minutes === null ? null : Math.round(minutes * 60);
}
