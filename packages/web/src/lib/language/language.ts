import { useSyncExternalStore } from 'react';
import { stored } from '../stored.ts';
import { speak, type Spoken, spoken } from './text.ts';

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

/** Chinese in traditional characters is none of them. */
function spokenFor(tag: string): Language | undefined {
  const name = tag.toLowerCase();
  const language = /^zh\b(?!-(?:hant|tw|hk|mo))/.test(name) ? 'zh-Hans' : name.split('-', 1)[0]!;
  return isLanguage(language) ? language : undefined;
}

/** The first of these that there is. @internal */
export function firstSpoken(wanted: readonly string[]): Language {
  return wanted.map(spokenFor).find((language) => language !== undefined) ?? 'en';
}

/** Before anything is drawn. `undefined`: nothing has to be loaded. */
export function startLanguage(): Promise<void> | undefined {
  const language = languageOf(languageChoice());
  // Without its texts the app speaks English.
  return language === 'en' ? undefined : load(language).then(change, () => undefined);
}

/** Of those that are being loaded the last one counts. */
let choices = 0;

/** Whether it is spoken now; not where another was chosen meanwhile. */
export async function chooseLanguage(choice: LanguageChoice): Promise<boolean> {
  const number = (choices += 1);
  const next = await load(languageOf(choice));
  if (number !== choices) return false;
  stored.set('language', choice === 'system' ? null : choice);
  change(next);
  return true;
}

function languageOf(choice: LanguageChoice): Language {
  return choice === 'system' ? firstSpoken(navigator.languages) : choice;
}

async function load(language: Language): Promise<Spoken> {
  const entry = LANGUAGES[language];
  const locale = navigator.languages.find((tag) => spokenFor(tag) === language) ?? language;
  if (!('catalogue' in entry)) return { language, locale, translate: undefined };
  const [catalogue, { translator }] = await Promise.all([entry.catalogue(), import('./translator.ts')]);
  return { language, locale, translate: translator(language, catalogue.default) };
}

function change(next: Spoken): void {
  speak(next);
  document.documentElement.lang = next.language;
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
