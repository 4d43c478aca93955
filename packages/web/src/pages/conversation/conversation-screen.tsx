import type { ConversationInfo, ConversationConnection, ConversationSnapshot } from '@tendon/client';
import { useEffect, useState } from 'react';
import { ComposerBox } from '../../composer/composer-box.tsx';
import { ConnectionBar } from './connection-bar.tsx';
import { Stream } from '../../stream/stream.tsx';
import { Workbench } from '../../workbench/workbench.tsx';
import { ConversationBar } from './conversation-bar.tsx';
import { ConversationCommands } from './conversation-commands.tsx';
import { ConversationContext, type OpenConversation, type Shown, type TabName } from '../../conversation/conversation-context.ts';
import { ConversationStatus } from './conversation-status.tsx';
import { useStateSentence } from './use-state-sentence.ts';
import { useWorkbench } from './use-workbench.ts';

export interface ConversationScreenProps {
  readonly id: string;
  readonly info: ConversationInfo | undefined;
  readonly connection: ConversationConnection;
  readonly snapshot: ConversationSnapshot;
}

export function ConversationScreen({ id, info, connection, snapshot }: ConversationScreenProps) {
  const workbench = useWorkbench();
  const [shown, setShown] = useState<Shown>({ tab: 'changes' });
  const [room, setRoom] = useState<'conversation' | 'panel'>('conversation');
  const sentence = useStateSentence(snapshot);
  const title = snapshot.title ?? info?.title ?? 'Conversation';
  useEffect(() => {
    document.title = `${sentence.text} – ${title}`;
  }, [sentence.text, title]);

  const show = (target: Shown) => {
    setShown(target);
    setRoom('panel');
    workbench.set(true);
  };
  const open: OpenConversation = { id, connection, snapshot, show };
  const choose = (tab: TabName | 'conversation') => {
    if (tab === 'conversation') setRoom('conversation');
    else show({ ...shown, tab });
  };
  return (
    <ConversationContext value={open}>
      <ConversationCommands workbench={workbench} onTab={choose} />
      <div className="screen">
        <ConversationBar title={title} info={info} workbench={workbench} />
        <ConnectionBar snapshot={snapshot} onRetry={connection.retry} />
        <div className="work" data-workbench={workbench.isShown ? 'shown' : 'hidden'} data-room={room}>
          <main className="conversation" aria-label="Conversation">
            <Stream />
            <ComposerBox sentence={sentence} />
          </main>
          {(workbench.isShown || workbench.isPhone) && <Workbench shown={shown} isPhone={workbench.isPhone} room={room} onTab={choose} />}
        </div>
        <ConversationStatus snapshot={snapshot} />
      </div>
    </ConversationContext>
  );
}
