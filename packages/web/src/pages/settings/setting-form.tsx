import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SettingsPatch } from '@tendon/client';
import { type ComponentProps, type ReactNode, useId } from 'react';
import { settingsQuery, tendon } from '../../lib/server.ts';
import type { FormDraft } from '../../lib/use-form-draft.ts';
import { Button } from '../../ui/button.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { SectionHeading } from './section-heading.tsx';
import { t } from '../../lib/language/text.ts';

type StoredSettings = NonNullable<Awaited<ReturnType<typeof tendon.settings.get>>>;

interface SettingSectionProps {
  readonly title: string;
  readonly about: string;
  /** Rendered with the stored settings, including changes by others. */
  readonly children: (stored: Partial<StoredSettings>) => ReactNode;
}

/** A part of the settings under its heading, shown once the settings are loaded. */
export function SettingSection({ title, about, children }: SettingSectionProps) {
  const heading = useId();
  const settings = useQuery(settingsQuery);
  return (
    <section className="setting" aria-labelledby={heading}>
      <SectionHeading id={heading} title={title} />
      <p className="text-ink-2">{about}</p>
      {settings.isPending && <Late>{t('Reading the settings')}</Late>}
      {settings.isError && (
        <p role="alert" className="text-small text-bad">
          {settings.error.message}
        </p>
      )}
      {settings.data !== undefined && children(settings.data ?? {})}
    </section>
  );
}

interface SettingFormProps {
  /** The values of the fields. */
  readonly draft: Pick<FormDraft<object>, 'isEdited' | 'send'>;
  /** The change to send; `undefined` while the form is incomplete. */
  readonly changes: SettingsChange | undefined;
  readonly label?: string;
  readonly children: ReactNode;
}

/** Fields that are saved together, with the result. They stay editable while they are being saved. */
export function SettingForm({ draft, changes, label = t('Save'), children }: SettingFormProps) {
  const save = useSaveSettings();
  return (
    <form
      className="setting-form"
      onChange={() => !save.isPending && save.reset()}
      onSubmit={(event) => {
        event.preventDefault();
        if (changes && !save.isPending) save.mutate(changes, { onSuccess: draft.send() });
      }}
    >
      {children}
      <div className="flex items-center gap-2">
        <Button type="submit" look="line" disabled={!changes} isBusy={save.isPending}>
          {label}
        </Button>
        <span role="status" className="text-small text-ink-2">
          {save.isSuccess && !draft.isEdited && t('Saved')}
        </span>
      </div>
      {save.isError && (
        <p role="alert" className="text-small text-bad">
          {save.error.message}
        </p>
      )}
    </form>
  );
}

export function SettingField({ label, hint, ...input }: { readonly label: string; readonly hint?: string } & ComponentProps<'input'>) {
  return (
    <label className="flex flex-col gap-1">
      {label}
      <input className="field w-full flex-none" {...input} />
      {hint && <span className="text-small text-ink-3">{hint}</span>}
    </label>
  );
}

interface ChoiceProps<T extends string> {
  readonly legend: string;
  readonly chosen: T;
  readonly choices: readonly { readonly value: T; readonly title: ReactNode; readonly about?: string }[];
  /** Focuses the chosen option. */
  readonly hasFocus?: boolean;
  readonly onChoose: (value: T) => void;
}

/** A choice between a few options, each with an explanation. */
export function SettingChoice<T extends string>({ legend, chosen, choices, hasFocus = false, onChoose }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset className="setting-choice">
      <legend className="sr-only">{legend}</legend>
      {choices.map(({ value, title, about }) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            checked={value === chosen}
            ref={hasFocus && value === chosen ? focusOnMount : undefined}
            onChange={() => onChoose(value)}
          />
          <span>
            {title}
            {about && <span className="block text-small text-ink-2">{about}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The change is computed from the settings at the time of saving, so concurrent changes to a list are not lost. */
export type SettingsChange = SettingsPatch | ((stored: Partial<StoredSettings>) => SettingsPatch);

export function useSaveSettings() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (changes: SettingsChange) =>
      tendon.settings.patch(typeof changes === 'function' ? changes((await tendon.settings.get()) ?? {}) : changes),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
}

/** Splits a text at commas and spaces. */
export function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}
