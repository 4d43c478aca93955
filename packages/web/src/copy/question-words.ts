/** What a message asks, once and whole: in one line as its heading, a longer one below a heading that does not repeat it. */
import { t } from '../lib/language/text.ts';
import { askedSentence, plainWords } from './shorten.ts';

interface MessageWords {
  /** What is heard of it among others. */
  readonly name: string;
  readonly question: string;
  readonly whole: string;
  readonly consequence: '';
}

const MAX_HEADING = 300;

/** Its choices are buttons: the list of them, which clients without those show, is left out. */
export function messageWords({ content, choices = [] }: { readonly content: string; readonly choices?: readonly string[] }): MessageWords {
  const list = choices.map((choice, index) => `${index + 1}. ${choice}`).join('\n');
  const isListed = list !== '' && content.trimEnd().endsWith(list);
  const text = (isListed ? content.trimEnd().slice(0, -list.length) : content).trim();
  const isLine = text.length <= MAX_HEADING && !text.includes('\n');
  const words = isLine ? { question: plainWords(text), whole: '' } : { question: t('Asked you something'), whole: text };
  return { ...words, name: askedSentence(text), consequence: '' };
}
