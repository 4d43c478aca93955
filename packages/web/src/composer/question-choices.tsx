import type { ConversationSnapshot } from '@tendon/client';
import { isAction } from '@tendon/protocol';
import { useConversationActs, useFact } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { t } from '../lib/language/text.ts';

/** The answers that the agent's open question offers; each is sent as a message. Another can be written below. */
export function QuestionChoices() {
  const { connection } = useConversationActs();
  const choices = useFact(choicesOf);
  if (!choices?.length) return undefined;
  return (
    <div className="flex flex-wrap gap-2 px-3.5 pt-3" role="group" aria-label={t('Answers')}>
      {choices.map((choice) => (
        <Button key={choice} look="line" className="button-whole" onClick={() => void connection.say(choice)}>
          {choice}
        </Button>
      ))}
    </div>
  );
}

function choicesOf({ state: { agentState, lastUserMessageId }, events }: ConversationSnapshot): readonly string[] | undefined {
  if (agentState !== 'awaiting_user_input') return undefined;
  const question = events.findLast((event) => isAction(event) && event.action === 'message' && event.source === 'agent');
  const isOpen = question && question.id > lastUserMessageId && isAction(question) && question.action === 'message';
  return (isOpen && question.args.choices) || undefined;
}
