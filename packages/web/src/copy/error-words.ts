import { cut } from './shorten.ts';
import { type PlainText, t, textKey } from '../lib/language/text.ts';

/** Status ids of the wire in plain words: what it means, for people. */
const STATUS: Readonly<Record<string, PlainText>> = {
  STATUS$ERROR: textKey('the server failed on this'),
  STATUS$ERROR_RUNTIME_DISCONNECTED: textKey('the sandbox is gone'),
  STATUS$ERROR_LLM_AUTHENTICATION: textKey('the provider refused the key'),
  STATUS$ERROR_LLM_SERVICE_UNAVAILABLE: textKey('the model does not answer'),
  STATUS$ERROR_LLM_INTERNAL_SERVER_ERROR: textKey('the model’s provider failed'),
  STATUS$ERROR_LLM_OUT_OF_CREDITS: textKey('the account has no credit'),
  STATUS$ERROR_LLM_CONTENT_POLICY_VIOLATION: textKey('the provider refused the content'),
  STATUS$ERROR_MEMORY: textKey('the sandbox ran out of memory'),
  STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR: textKey('the git host refused the token'),
  STATUS$LLM_RETRY: textKey('the provider asked for a pause'),
};

/** The cause of an error in at most `maxWords` words. */
export function causeWords(reason: string, maxWords = 8): string {
  const known = STATUS[reason.trim()];
  if (known) return t(known);
  const plain = reason
    .replace(/^[A-Za-z]*(Error|Exception): /, '')
    .split('\n', 1)[0]!
    .trim()
    .replace(/\.$/, '');
  const words = plain.split(/\s+/).filter(Boolean);
  if (words.length === 0) return t('no reason given');
  return cut(words.length <= maxWords ? words.join(' ') : `${words.slice(0, maxWords).join(' ')}…`, 200);
}

/** Why the model is asked again, as what it did: the server's sentence says which of the three it was. */
export function troubleWords(reason = '', model = t('The model')): string {
  switch (/provider (did not answer|failed):/.exec(reason)?.[1]) {
    case 'did not answer':
      return t('{{model}} did not answer', { model });
    case 'failed':
      return t('{{model}} failed', { model });
    default:
      return t('{{model}} asked for a pause', { model });
  }
}

/** The provider's own words, without the server's before them. */
export function providerWords(reason: string): string {
  return /^The model's provider [^:]+: (.+)$/s.exec(reason)?.[1] ?? reason;
}

/** What status ids say while a sandbox starts; `undefined` for what needs no words. */
export function startingWords(id: string | undefined): string | undefined {
  switch (id) {
    case 'STATUS$BUILDING_RUNTIME':
      return t('Building the sandbox');
    case 'STATUS$STARTING_RUNTIME':
    case 'STATUS$RUNTIME_STARTED':
      return t('Starting the sandbox');
    case 'STATUS$SETTING_UP_WORKSPACE':
    case 'STATUS$SETTING_UP_GIT_HOOKS':
      return t('Opening the repository');
    default:
      return undefined;
  }
}
