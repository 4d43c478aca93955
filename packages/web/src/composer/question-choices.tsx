import { isAction } from '@tendon/protocol';
import { useConversation } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { t } from '../lib/language/text.ts';

/** The answers that the agent's open question offers; each is sent as a message. Another can be written below. */
export function QuestionChoices() {
  const { snapshot, connection } = useConversation();
  const { agentState, lastUserMessageId } = snapshot.state;
  if (agentState !== 'awaiting_user_input') return undefined;
  const question = snapshot.events.findLast((event) => isAction(event) && event.action === 'message' && event.source === 'agent');
  const isOpen = question && question.id > lastUserMessageId && isAction(question) && question.action === 'message';
  const choices = (isOpen && question.args.choices) || [];
  if (choices.length === 0) return undefined;
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
