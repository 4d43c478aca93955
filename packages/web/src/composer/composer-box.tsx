import { actions } from '@tendon/client';
import { X } from 'lucide-react';
import { openDecision, useConversation } from '../conversation/open-conversation.ts';
import type { StateSentence } from '../copy/state-sentence.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Decision } from './decision.tsx';
import { MessageComposer } from './message-composer.tsx';
import { NetworkQuestionCard } from './network-question-card.tsx';
import { StateLine } from './state-line.tsx';

/** The state, what must be decided, and where to speak: one box, so that "yes", "no" and "rather this" are one place. */
export function ComposerBox({
  sentence,
}: {
  readonly sentence: StateSentence & { readonly since: number | undefined; readonly until: number | undefined };
}) {
  const { snapshot, connection } = useConversation();
  const decision = openDecision(snapshot.state);
  const [question, ...later] = snapshot.questions ?? [];
  return (
    <div className="composer-box">
      <StateLine sentence={sentence} />
      <Notices />
      <MessageComposer
        hasDecision={decision !== undefined}
        above={
          <>
            {question && <NetworkQuestionCard key={`${question.host} ${question.asked_at}`} question={question} more={later.length} />}
            {decision && (
              <Decision
                key={decision.id}
                action={decision}
                onApprove={() => connection.send(actions.approve())}
                onReject={(reason) => {
                  connection.send(actions.reject(reason));
                  // The wire has no place for a reason; said, it is what the agent reads next.
                  if (reason) connection.say(reason);
                }}
              />
            )}
          </>
        }
      />
    </div>
  );
}

/** What the server answered to something sent from here, where it was sent from. */
function Notices() {
  const { snapshot, connection } = useConversation();
  const notice = snapshot.notices.at(-1);
  if (!notice) return null;
  return (
    <p role="alert" className="flex items-center gap-2 pb-2 pl-1 text-bad">
      <span className="flex-1">{notice.message}</span>
      <IconButton small label="Dismiss" onClick={() => connection.dismiss(notice.id)}>
        <Icon of={X} small />
      </IconButton>
    </p>
  );
}
