import { theme, useThemeChoice } from '../../ui/theme.tsx';
import { SettingChoice } from './setting-form.tsx';

const THEMES = [
  { value: 'system', title: 'As the system' },
  { value: 'light', title: 'Light' },
  { value: 'dark', title: 'Dark' },
] as const;

/** Of this browser alone. */
export function AppearanceSetting() {
  const chosen = useThemeChoice();
  return (
    <section className="setting" aria-labelledby="appearance-heading">
      <h2 id="appearance-heading">Appearance</h2>
      <SettingChoice legend="Theme" chosen={chosen} choices={THEMES} onChoose={theme.choose} />
    </section>
  );
}
