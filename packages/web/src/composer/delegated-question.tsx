import { useMutation, useQuery } from '@tanstack/react-query';
import { fromJson, isAction, type QuestionAnswer, type DelegatedQuestion } from '@tendon/protocol';
import { useConversationActs, useFact } from '../conversation/open-conversation.ts';
import { tendon } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Decision, useIsNew } from './decision.tsx';
import { t } from '../lib/language/text.ts';

/** What an agent waits for to which this conversation's agent has delegated: the first of them, with the path to it. */
export function DelegatedQuestionCard() {
  const { id } = useConversationActs();
  const waiting = useFact((snapshot) => snapshot.delegated) ?? [];
  const { data } = useQuery({
    queryKey: ['delegated', id, waiting],
    queryFn: () => tendon.conversations.delegatedQuestions(id),
    enabled: waiting.length > 0,
    retry: false,
  });
  const [first, ...later] = waiting.length > 0 ? (data?.questions ?? []) : [];
  if (!first) return null;
  return <Question key={`${first.conversation_id} ${first.event_id}`} question={first} more={later.length} />;
}

function Question({ question, more }: { readonly question: DelegatedQuestion; readonly more: number }) {
  const { id } = useConversationActs();
  const send = useMutation({
    mutationFn: (given: Omit<QuestionAnswer, 'event_id'>) =>
      tendon.conversations.answerDelegated(id, question.conversation_id, { ...given, event_id: question.event_id }),
  });
  const action = fromJson(question.action);
  if (!isAction(action)) return null;
  const path = question.path.map(({ title, agent }) => `${title} (${agent})`).join(' › ');
  return (
    <>
      <p className="px-3.5 pt-3 text-small">
        {more > 0 ? t('{{path}} asks; {{more}} more after this', { path, more }) : t('{{path}} asks', { path })}
      </p>
      {action.action === 'message' ? (
        <Choices
          text={action.args.content}
          choices={action.args.choices ?? []}
          onReply={(text) => send.mutate({ answer: 'reply', text })}
        />
      ) : (
        <Decision
          action={action}
          onApprove={(edited) => send.mutate({ answer: 'approve', ...(edited !== undefined && { edited }) })}
          onReject={(text) => send.mutate({ answer: 'reject', text })}
        />
      )}
      {send.error && (
        <p role="alert" className="px-3.5 text-small text-bad">
          {send.error.message}
        </p>
      )}
    </>
  );
}

interface ChoicesProps {
  readonly text: string;
  readonly choices: readonly string[];
  readonly onReply: (text: string) => void;
}

/** Another answer is written in the conversation that asks. */
function Choices({ text, choices, onReply }: ChoicesProps) {
  const isNew = useIsNew();
  return (
    <section className="decision" aria-label={t('Question of a delegated agent')}>
      <pre className="scroll">{text}</pre>
      <div className="decision-acts">
        {choices.map((choice) => (
          <Button key={choice} look="line" className="button-whole" aria-disabled={isNew} onClick={() => !isNew && onReply(choice)}>
            {choice}
          </Button>
        ))}
      </div>
    </section>
  );
}
