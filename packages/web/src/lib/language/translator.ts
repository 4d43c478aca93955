import { createInstance, type ResourceLanguage } from 'i18next';
import type { Translate } from './text.ts';

/** A catalogue through i18next: it chooses the plural form and fills in the values. Keys are whole sentences, so no sign in them divides. */
export function translator(language: string, catalogue: ResourceLanguage): Translate {
  const i18n = createInstance();
  void i18n.init({
    lng: language,
    fallbackLng: false,
    resources: { [language]: { translation: catalogue } },
    keySeparator: false,
    nsSeparator: false,
    initAsync: false,
    interpolation: { escapeValue: false }, // React escapes.
  });
  // Nothing in a value is looked up or filled in: i18next skips what a value brings.
  return (key, count, replace) => i18n.t(key, { ...(count !== undefined && { count }), replace });
}
