import { useState } from 'react';
import { chooseLanguage, languageChoice, type LanguageChoice, LANGUAGES } from '../../lib/language/language.ts';
import { t, textKey } from '../../lib/language/text.ts';
import { SectionHeading } from './section-heading.tsx';
import { theme, useThemeChoice } from '../../ui/theme.tsx';
import { SettingChoice } from './setting-form.tsx';

const THEMES = [
  { value: 'system', title: textKey('Follow the system') },
  { value: 'light', title: textKey('Light') },
  { value: 'dark', title: textKey('Dark') },
] as const;

/** Settings of this browser alone. */
export function AppearanceSetting() {
  const chosen = useThemeChoice();
  const choices = THEMES.map(({ value, title }) => ({ value, title: t(title) }));
  return (
    <>
      <section className="setting" aria-labelledby="appearance-heading">
        <SectionHeading id="appearance-heading" title={t('Appearance')} />
        <SettingChoice legend={t('Theme')} chosen={chosen} choices={choices} onChoose={theme.choose} />
      </section>
      <LanguageSetting />
    </>
  );
}

/** Changing the language renders the whole app anew, so the chosen option gets the focus back. */
let isBeingChosen = false;

function LanguageSetting() {
  const [chosen, setChosen] = useState(languageChoice);
  const [wasChosen] = useState(() => isBeingChosen);
  const [problem, setProblem] = useState<string>();
  const choose = async (next: LanguageChoice) => {
    isBeingChosen = true;
    try {
      if (!(await chooseLanguage(next))) return;
      setChosen(next);
      setProblem(undefined);
    } catch {
      setProblem(t('This language could not be loaded. Try again when the server is reached.'));
    } finally {
      isBeingChosen = false;
    }
  };
  const names = Object.entries(LANGUAGES).map(([value, { name }]) => ({
    value: value as LanguageChoice,
    title: <span lang={value}>{name}</span>,
  }));
  return (
    <section className="setting" aria-labelledby="language-heading">
      <SectionHeading id="language-heading" title={t('Language')} />
      <SettingChoice
        legend={t('Language')}
        chosen={chosen}
        choices={[{ value: 'system', title: t('Follow the system') }, ...names]}
        hasFocus={wasChosen}
        onChoose={(next) => void choose(next)}
      />
      <p className="text-small text-ink-3">{t('What the server, the agent and the model say stays as they say it.')}</p>
      {problem && (
        <p role="alert" className="tone-bad">
          {problem}
        </p>
      )}
    </section>
  );
}
