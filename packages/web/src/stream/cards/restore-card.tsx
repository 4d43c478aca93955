import type { Action } from '@tendon/protocol';
import { History } from 'lucide-react';
import { Well } from '../../code/output.tsx';
import { failureText, hasFailed } from '../../conversation/outcome.ts';
import { t, textKey } from '../../lib/language/text.ts';
import { type ActionCard, failureFacts, observed, spoken } from './card.tsx';

const VERBS = {
  files: textKey('Restored the files'),
  conversation: textKey('Restored the conversation'),
  both: textKey('Restored files and conversation'),
} as const satisfies Record<Action<'restore_checkpoint'>['args']['what'], string>;

/** What was restored, and from where on the agent knows nothing. */
export const restoreCard: ActionCard<'restore_checkpoint'> = ({ action, observation }) => {
  const { what, from, paths } = action.args;
  const verb = t(VERBS[what]);
  const restored = observed('restore_checkpoint', observation);
  const changed = restored && what !== 'conversation' ? [{ text: t('{{count}} files', { count: restored.extras.changed }) }] : [];
  const facts = observation && hasFailed(observation) ? failureFacts(observation) : changed;
  const object = paths?.join(', ') ?? '';
  const text = observation && (hasFailed(observation) ? failureText(observation) : observation.content);
  return {
    icon: History,
    verb,
    object,
    facts,
    name: `${verb} ${object}${spoken(facts)}`,
    open: 'newest',
    ...(text && {
      body: () => (
        <>
          <Well text={text} />
          {restored && from >= 0 && (
            <p className="text-small">
              <a href={`#event-${from}`}>{t('What the agent no longer knows begins here')}</a>
            </p>
          )}
        </>
      ),
    }),
  };
};
