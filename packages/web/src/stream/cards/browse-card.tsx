import type { Observation } from '@tendon/protocol';
import { Globe, MousePointerClick } from 'lucide-react';
import { Well } from '../../code/output.tsx';
import { isInlinePicture } from '../../code/picture.ts';
import { type ActionCard, type Card, durationFacts, failureBody, observed, outcomeFacts, spoken, Picture } from './card.tsx';

export const browseCard: ActionCard<'browse'> = (step) => {
  const object = step.action.args.url.replace(/^https?:\/\//, '');
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  return { icon: Globe, verb: 'Opened', object, facts, name: `Opened ${object}${spoken(facts)}`, ...pageOf(step.observation, object) };
};

export const browseInteractiveCard: ActionCard<'browse_interactive'> = (step) => {
  const words = actWords(step.action.args.browser_actions);
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  return {
    icon: MousePointerClick,
    ...words,
    facts,
    name: `${words.verb} ${words.object ?? ''}${spoken(facts)}`,
    ...pageOf(step.observation, 'the page'),
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
          <Picture src={screenshot} alt={`Screenshot of ${what}`} title={title} text={page.content.trim()} />
        ) : (
          page.content.trim() && <Well text={page.content} />
        )}
        {error && <p className="pt-1 text-bad">{error}</p>}
      </>
    ),
  };
}

const VERBS: Readonly<Record<string, string>> = {
  click: 'Clicked',
  dblclick: 'Clicked twice',
  fill: 'Filled',
  goto: 'Opened',
  go_back: 'Went back',
  go_forward: 'Went forward',
  hover: 'Pointed at',
  press: 'Pressed',
  scroll: 'Scrolled',
  select_option: 'Chose',
  upload_file: 'Uploaded to',
  noop: 'Waited',
};

/** `click('14')` → Clicked 14. */
function actWords(text: string): { readonly verb: string; readonly object?: string } {
  const match = /(\w+)\(([^)]*)\)/.exec(text);
  const verb = match && VERBS[match[1]!];
  if (!match || !verb) return { verb: 'Used the browser', object: text.split('\n', 1)[0]! };
  const object = match[2]!.replaceAll(/['"]/g, '');
  return { verb, ...(object && { object }) };
}
