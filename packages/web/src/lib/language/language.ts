import { useSyncExternalStore } from 'react';
import { stored } from '../stored.ts';
import { speak, spoken } from './text.ts';

/** Each under its own name, and where its texts are; English is in the app. */
export const LANGUAGES = {
  en: { name: 'English' },
  de: { name: 'Deutsch', catalogue: () => import('./de.json') },
  es: { name: 'Español', catalogue: () => import('./es.json') },
  fr: { name: 'Français', catalogue: () => import('./fr.json') },
  ja: { name: '日本語', catalogue: () => import('./ja.json') },
  'zh-Hans': { name: '简体中文', catalogue: () => import('./zh-Hans.json') },
} as const satisfies Record<string, { name: string; catalogue?: () => Promise<{ default: object }> }>;

export type Language = keyof typeof LANGUAGES;
export type LanguageChoice = Language | 'system';

const listeners = new Set<() => void>();

function isLanguage(name: string | null): name is Language {
  return name !== null && Object.hasOwn(LANGUAGES, name);
}

/** What a person chose in this browser. */
export function languageChoice(): LanguageChoice {
  const name = stored.get('language');
  return isLanguage(name) ? name : 'system';
}

/** The first of these that there is. Chinese in traditional characters is none of them. @internal */
export function firstSpoken(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const name = tag.toLowerCase();
    const language = /^zh\b(?!-(?:hant|tw|hk|mo))/.test(name) ? 'zh-Hans' : name.split('-', 1)[0]!;
    if (isLanguage(language)) return language;
  }
  return 'en';
}

/** Before anything is drawn. `undefined`: nothing has to be loaded. */
export function startLanguage(): Promise<void> | undefined {
  const choice = languageChoice();
  const language = choice === 'system' ? firstSpoken(navigator.languages) : choice;
  return language === 'en' ? undefined : change(language).catch(() => undefined); // Without its texts the app speaks English.
}

export async function chooseLanguage(choice: LanguageChoice): Promise<void> {
  await change(choice === 'system' ? firstSpoken(navigator.languages) : choice);
  stored.set('language', choice === 'system' ? null : choice);
}

async function change(language: Language): Promise<void> {
  const entry = LANGUAGES[language];
  const locale = navigator.languages.find((tag) => firstSpoken([tag]) === language && tag.startsWith(language.split('-', 1)[0]!));
  const [catalogue, { translator }] =
    'catalogue' in entry ? await Promise.all([entry.catalogue(), import('./translator.ts')]) : [undefined, { translator: undefined }];
  speak({ language, locale: locale ?? language, translate: catalogue && translator?.(language, catalogue.default) });
  document.documentElement.lang = language;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** What is spoken now. */
export function useLanguage(): string {
  return useSyncExternalStore(subscribe, () => spoken().language);
}
