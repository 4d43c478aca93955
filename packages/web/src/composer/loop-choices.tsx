import { actions, type ConversationSnapshot } from '@tendon/client';
import { isObservation } from '@tendon/protocol';
import { useConversationActs, useFact } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { t, textKey } from '../lib/language/text.ts';

const CHOICES = [
  [1, textKey('Begin again from before it')],
  [2, textKey('Begin again from your message')],
  [3, textKey('Stop')],
] as const;

/** The ways on for an agent that was halted because it went in circles. Another is a message, written below. */
export function LoopChoices() {
  const { connection } = useConversationActs();
  if (!useFact(isHalted)) return undefined;
  return (
    <div className="flex flex-wrap items-center gap-2 px-3.5 pt-3" role="group" aria-label={t('The agent went in circles')}>
      {CHOICES.map(([option, words]) => (
        <Button key={option} look="line" onClick={() => void connection.send(actions.recoverFromLoop(option))}>
          {t(words)}
        </Button>
      ))}
    </div>
  );
}

function isHalted({ state, events }: ConversationSnapshot): boolean {
  if (state.agentState !== 'awaiting_user_input') return false;
  const halt = events.findLast((event) => isObservation(event) && event.observation === 'loop_detection' && !event.extras.hint);
  // Whatever a person sent since then begins the count anew.
  return halt !== undefined && !events.some(({ id, source }) => id > halt.id && source === 'user');
}
