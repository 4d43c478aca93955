import type { Observation } from '@tendon/protocol';
import { Globe, MousePointerClick } from 'lucide-react';
import { Well } from '../../code/output.tsx';
import { isInlinePicture } from '../../code/picture.ts';
import { type ActionCard, type Card, durationFacts, failureBody, observed, outcomeFacts, spoken, Picture } from './card.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

export const browseCard: ActionCard<'browse'> = (step) => {
  const object = step.action.args.url.replace(/^https?:\/\//, '');
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  return {
    icon: Globe,
    verb: t('Opened'),
    object,
    facts,
    name: `${t('Opened')} ${object}${spoken(facts)}`,
    ...pageOf(step.observation, object),
  };
};

export const browseInteractiveCard: ActionCard<'browse_interactive'> = (step) => {
  const words = actWords(step.action.args.browser_actions);
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  return {
    icon: MousePointerClick,
    ...words,
    facts,
    name: `${words.verb} ${words.object ?? ''}${spoken(facts)}`,
    ...pageOf(step.observation, t('the page')),
  };
};

function pageOf(observation: Observation | undefined, what: string): Pick<Card, 'body' | 'open'> {
  const page = observed('browse', observation);
  const failure = page ? undefined : failureBody(observation);
  if (failure) return { body: failure, open: 'always' };
  if (!page) return { open: 'never' };
  const { title = '', screenshot, last_browser_action_error: error } = page.extras;
  return {
    open: isInlinePicture(screenshot) || error ? 'always' : 'newest',
    body: () => (
      <>
        {isInlinePicture(screenshot) ? (
          <Picture src={screenshot} alt={t('Screenshot of {{what}}', { what })} title={title} text={page.content.trim()} />
        ) : (
          page.content.trim() && <Well text={page.content} />
        )}
        {error && <p className="pt-1 text-bad">{error}</p>}
      </>
    ),
  };
}

const VERBS: Readonly<Record<string, PlainText>> = {
  click: textKey('Clicked'),
  dblclick: textKey('Clicked twice'),
  fill: textKey('Filled'),
  goto: textKey('Opened'),
  go_back: textKey('Went back'),
  go_forward: textKey('Went forward'),
  hover: textKey('Pointed at'),
  press: textKey('Pressed'),
  scroll: textKey('Scrolled'),
  select_option: textKey('Chose'),
  upload_file: textKey('Uploaded to'),
  noop: textKey('Waited'),
};

/** `click('14')` → Clicked 14. */
function actWords(text: string): { readonly verb: string; readonly object?: string } {
  const match = /(\w+)\(([^)]*)\)/.exec(text);
  const verb = match && VERBS[match[1]!];
  if (!match || !verb) return { verb: t('Used the browser'), object: text.split('\n', 1)[0]! };
  const object = match[2]!.replaceAll(/['"]/g, '');
  return { verb: t(verb), ...(object && { object }) };
}
