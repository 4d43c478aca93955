import { describe, expect, it } from 'vitest';
import { ENGLISH_FORMS } from './english-forms.ts';
import de from './de.json';
import es from './es.json';
import fr from './fr.json';
import ja from './ja.json';
import chinese from './zh-Hans.json';
import { firstSpoken, LANGUAGES } from './language.ts';
import { textsOfSource } from './texts-of-source.test-support.ts';
import { inEnglish } from './text.ts';
import { translator } from './translator.ts';

const CATALOGUES = Object.entries({ de, es, fr, ja, 'zh-Hans': chinese } as Readonly<Record<string, Readonly<Record<string, string>>>>);

const source = textsOfSource();
const placeholders = (text: string) => [...text.matchAll(/\{\{\w+\}\}/g)].map(([name]) => name).toSorted();
const isCounted = (text: string) => text.includes('{{count}}');

it('CL1100: no component shows words of its own', () => {
  expect(source.literals).toEqual([]);
});

it('CL1101: every language there is has its catalogue', () => {
  expect(CATALOGUES.map(([language]) => language)).toEqual(Object.keys(LANGUAGES).filter((language) => language !== 'en'));
});

describe.each(CATALOGUES)('CL1101: %s', (language, catalogue) => {
  it('has every text that is asked for, in each form of what is counted, and no other', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const wanted = [...source.texts].flatMap((text) => (isCounted(text) ? pluralCategories.map((form) => `${text}_${form}`) : [text]));
    expect(Object.keys(catalogue).toSorted()).toEqual(wanted.toSorted());
  });

  it('has the placeholders of the English', () => {
    const different = Object.entries(catalogue).filter(([key, text]) => {
      const wanted = placeholders(key);
      // The form for one may leave the number out.
      return placeholders(text).join() !== wanted.join() && !(key.endsWith('_one') && isCounted(key) && placeholders(text).length > 0);
    });
    expect(different).toEqual([]);
  });
});

it('CL1101: English has a singular for each text that counts, and for no other', () => {
  expect(Object.keys(ENGLISH_FORMS).toSorted()).toEqual([...source.texts].filter(isCounted).toSorted());
  for (const [key, one] of Object.entries(ENGLISH_FORMS)) expect(placeholders(one)).toEqual(placeholders(key));
});

it('CL1102: English is filled in as i18next fills in the others', () => {
  const english = Object.fromEntries(
    [...source.texts].flatMap((text) =>
      isCounted(text)
        ? [
            [`${text}_one`, ENGLISH_FORMS[text]],
            [`${text}_other`, text],
          ]
        : [[text, text]],
    ),
  ) as Record<string, string>;
  const translate = translator('en', english);
  for (const text of source.texts) {
    const values = Object.fromEntries(placeholders(text).map((name) => [name.slice(2, -2), 'a {{b}} $t(c) <d>']));
    for (const count of isCounted(text) ? [0, 1, 2] : [undefined])
      expect(inEnglish(text, count, values)).toBe(translate(text, count, values));
  }
});

it('CL1103: the first language of the browser that there is, is spoken', () => {
  expect(firstSpoken(['nl-NL', 'de-AT', 'en'])).toBe('de');
  expect(firstSpoken(['zh-CN'])).toBe('zh-Hans');
  expect(firstSpoken(['zh'])).toBe('zh-Hans');
  expect(firstSpoken(['zh-TW', 'ja'])).toBe('ja');
  expect(firstSpoken(['zh-Hant-HK'])).toBe('en');
  expect(firstSpoken([])).toBe('en');
});
