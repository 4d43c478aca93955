// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { chooseLanguage, languageChoice } from './language.ts';
import { spoken, t } from './text.ts';

it('CL1103: of two choices the later is spoken and stored, though the earlier is loaded after it', async () => {
  const earlier = chooseLanguage('de');
  await chooseLanguage('en');
  await earlier;
  expect([spoken().language, languageChoice(), document.documentElement.lang, t('Language')]).toEqual(['en', 'en', 'en', 'Language']);
});
