import { takeOverOf } from '@tendon/protocol/reduce';
import { useEffect } from 'react';
import { useConversationActs, useFact } from '../../conversation/open-conversation.ts';
import { Button } from '../../ui/button.tsx';
import { leaveTerminal, takeTerminal, useTaken } from './taken-terminal.ts';
import { t } from '../../lib/language/text.ts';

/** Beside the agent's terminal: who has it, and how it changes hands. */
export function TerminalHold() {
  const { id, isWatched } = useConversationActs();
  const taken = useTaken(id);
  const isHeld = useFact((snapshot) => takeOverOf(snapshot.state) !== undefined);
  if (isWatched) return null;
  const isMine = taken !== undefined && taken.ended === undefined;
  const words = isMine ? t('You are typing. The agent waits.') : isHeld ? t('You have the terminal, in another page.') : '';
  const act = isMine ? t('Give back') : isHeld ? t('Take over here') : t('Take over');
  return (
    <>
      <span>{words}</span>
      <Button small look="line" onClick={() => (isMine ? taken.session?.giveBack() : takeTerminal(id))}>
        {act}
      </Button>
    </>
  );
}

/** In the bar of the page, from every panel. It leaves the terminal when the page shows something else. */
export function TerminalHeld() {
  const { id, show } = useConversationActs();
  const isHeld = useFact((snapshot) => takeOverOf(snapshot.state) !== undefined);
  useEffect(() => () => leaveTerminal(id), [id]);
  if (!isHeld) return null;
  return (
    <Button small look="line" className="tone-wait" onClick={() => show({ tab: 'terminal' })}>
      {t('You have the terminal')}
    </Button>
  );
}
