import { X } from 'lucide-react';
import { useMutation } from '@tanstack/react-query';
import type { Action, QuestionAnswer } from '@tendon/protocol';
import { openDecision, useConversation, useConversationActs, useFact } from '../conversation/open-conversation.ts';
import { canSendNow } from '../conversation/send-now.ts';
import type { StateNow } from '../conversation/state-now.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Decision } from './decision.tsx';
import { Refused } from './connection-words.tsx';
import { DelegatedQuestionCard } from './delegated-question.tsx';
import { MessageComposer } from './message-composer.tsx';
import { NetworkQuestionCard } from './network-question.tsx';
import { StateLine } from './state-line.tsx';
import { tendon } from '../lib/server.ts';
import { t } from '../lib/language/text.ts';

/** The state, what must be decided, and where to speak: one box, so that "yes", "no" and "rather this" are one place. */
export function ComposerBox({ sentence }: { readonly sentence: StateNow }) {
  const { snapshot } = useConversation();
  const { agentState, lastUserMessageId } = snapshot.state;
  return (
    <div className="composer-box">
      <StateLine sentence={sentence} />
      <Notices />
      <MessageComposer
        agentState={agentState}
        lastUserMessageId={lastUserMessageId}
        hasDecision={openDecision(snapshot.state) !== undefined}
        canStop={canSendNow(snapshot)}
        isOffline={snapshot.connection.state === 'offline'}
        above={QUESTIONS}
      />
    </div>
  );
}

const QUESTIONS = <Questions />;

/** What waits for a person, above the field. */
function Questions() {
  const decision = useFact(({ state }) => openDecision(state));
  const [question, ...later] = useFact(({ questions }) => questions) ?? [];
  return (
    <>
      <Refused />
      {question && <NetworkQuestionCard key={`${question.host} ${question.asked_at}`} question={question} more={later.length} />}
      {!decision && <DelegatedQuestionCard />}
      {decision && <OwnDecision key={decision.id} action={decision} />}
    </>
  );
}

/** Decided by the event that is shown: another action that waits by then is not decided unseen (SV1000). */
function OwnDecision({ action }: { readonly action: Action }) {
  const { id } = useConversationActs();
  const send = useMutation({
    mutationFn: (given: Omit<QuestionAnswer, 'event_id'>) => tendon.conversations.answer(id, { ...given, event_id: action.id }),
  });
  const decide = (given: Omit<QuestionAnswer, 'event_id'>) => void (!send.isPending && send.mutate(given));
  return (
    <>
      <Decision
        action={action}
        onApprove={(edited) => decide({ answer: 'approve', ...(edited !== undefined && { edited }) })}
        onReject={(text) => decide({ answer: 'reject', text })}
      />
      {send.error && (
        <p role="alert" className="px-3.5 text-small text-bad">
          {send.error.message}
        </p>
      )}
    </>
  );
}

/** What the server answered to something sent from here, where it was sent from. */
function Notices() {
  const { connection } = useConversationActs();
  const notice = useFact(({ notices }) => notices.at(-1));
  if (!notice) return null;
  return (
    <p role="alert" className="flex items-center gap-2 pb-2 pl-1 text-bad">
      <span className="flex-1">{notice.message}</span>
      <IconButton small label={t('Dismiss')} onClick={() => connection.dismiss(notice.id)}>
        <Icon of={X} small />
      </IconButton>
    </p>
  );
}
