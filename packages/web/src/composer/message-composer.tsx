import { useQuery } from '@tanstack/react-query';
import { actions } from '@tendon/client';
import type { AgentState } from '@tendon/protocol';
import { ArrowUp } from 'lucide-react';
import { memo, type ReactNode, useEffect, useRef, useState } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { reviewComments, withComments } from '../conversation/review-comments.ts';
import { useSendNow } from '../conversation/send-now.ts';
import { saveTrajectory } from '../conversation/save-trajectory.ts';
import { useCommands } from '../lib/commands.ts';
import { paths } from '../lib/paths.ts';
import { tendon } from '../lib/server.ts';
import { useDraft } from '../lib/stored.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import type { Attachment } from './attachments.tsx';
import { ConversationAgentChoice, ConversationModelChoice } from './choices.tsx';
import { Composer } from './composer.tsx';
import { LoopChoices } from './loop-choices.tsx';
import { QuestionChoices } from './question-choices.tsx';
import type { Suggestion } from './suggestions.tsx';
import { WaitingComments } from './waiting-comments.tsx';
import { navigate } from '../lib/address.tsx';
import { t, textKey } from '../lib/language/text.ts';

const PLACEHOLDERS = {
  loading: textKey('Add to this while it works'),
  init: textKey('Describe a task…'),
  running: textKey('Add to this while it works'),
  awaiting_user_input: textKey('Reply'),
  paused: textKey('Add to this while it works'),
  stopped: textKey('What next?'),
  finished: textKey('What next?'),
  rejected: textKey('What next?'),
  error: textKey('What next?'),
  rate_limited: textKey('Add to this while it works'),
  awaiting_user_confirmation: textKey('Or say what to do instead'),
  user_confirmed: textKey('Add to this while it works'),
  user_rejected: textKey('Add to this while it works'),
} as const satisfies Record<AgentState, string>;

interface MessageComposerProps {
  readonly agentState: AgentState;
  readonly lastUserMessageId: number;
  /** What stands above the field; the same element for as long as it is the same. */
  readonly above: ReactNode;
  readonly hasDecision: boolean;
  /** Something runs that can be stopped, so that a message is read at once. */
  readonly canStop: boolean;
  readonly isOffline: boolean;
}

/** Where a person speaks to the agent. An event does not draw it again: what is typed meanwhile does not wait. */
export const MessageComposer = memo(function MessageComposer(props: MessageComposerProps) {
  const { agentState, lastUserMessageId, above, hasDecision, canStop, isOffline } = props;
  const { id, connection } = useConversationActs();
  const isFresh = agentState === 'awaiting_user_input' && lastUserMessageId < 0;
  const { text, setText, attachments, setAttachments, problem, sending, canSend, send } = useMessage();
  const atOnce = useSendCommands(canSend, canStop, send);
  return (
    <>
      <Composer
        field={{
          label: t('Message'),
          placeholder: isOffline
            ? t('Messages are sent when you are back')
            : t(isFresh ? PLACEHOLDERS.init : PLACEHOLDERS[hasDecision ? 'awaiting_user_confirmation' : agentState]),
          onSend: () => void send(),
          onUp: () => setText(lastMessage(connection.getSnapshot().events, lastUserMessageId)),
        }}
        draft={{ text, onText: setText, attachments, onAttachments: setAttachments }}
        slash={useSlash()}
        at={useFiles(id, text.includes('@'))}
        above={
          <>
            {above}
            <QuestionChoices />
            <LoopChoices />
            <WaitingComments />
          </>
        }
        end={
          <>
            <span className="only-wide">
              <ConversationAgentChoice agentState={agentState} />
            </span>
            <ConversationModelChoice />
            {atOnce && (
              <Button small hint="mod+shift+enter" title={t('Stops the step that runs')} onClick={() => void atOnce()}>
                {t('Send now')}
              </Button>
            )}
            <IconButton label={t('Send')} hint="enter" disabled={!canSend} onClick={() => void send()}>
              <Icon of={ArrowUp} />
            </IconButton>
          </>
        }
      />
      {sending > 0 && (
        <p role="status" className="pt-1 text-small text-ink-3">
          {t('Sending {{count}} files; your message follows them', { count: sending })}
        </p>
      )}
      {problem && (
        <p role="alert" className="pt-1 text-small text-bad">
          {problem}
        </p>
      )}
    </>
  );
});

/** The keys that send; answers how to send at once, where there is something to be stopped for it. */
function useSendCommands(canSend: boolean, canStop: boolean, send: () => Promise<boolean>): (() => Promise<void>) | undefined {
  const { isStopping, sendNow } = useSendNow();
  const offersNow = canSend && !isStopping && canStop;
  const sendAtOnce = async () => {
    if (await send()) await sendNow();
  };
  useCommands('composer', [
    {
      id: 'send',
      title: t('Send the message'),
      group: 'Here',
      keys: ['mod+enter'],
      enabled: canSend,
      listed: false,
      run: () => void send(),
    },
    {
      id: 'send-now',
      title: t('Send the message now, which stops the step that runs'),
      group: 'Here',
      keys: ['mod+shift+enter'],
      enabled: offersNow,
      run: () => void sendAtOnce(),
    },
  ]);
  return offersNow ? sendAtOnce : undefined;
}

interface WrittenMessage {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/**
 * The message as it is written, and sending it: files go up first, and meanwhile the next can be written. What could not be sent comes
 * back before it.
 */
function useMessage() {
  const { id, connection } = useConversationActs();
  const [text, setText] = useDraft(id);
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [problem, setProblem] = useState('');
  const [sending, setSending] = useState(0);
  const canSend = sending === 0 && (text.trim() !== '' || attachments.length > 0);
  const written = useRef<WrittenMessage>({ text, attachments });
  useEffect(() => {
    written.current = { text, attachments };
  }, [text, attachments]);

  const giveBack = (sent: WrittenMessage, why: string) => {
    const now = written.current;
    setText([sent.text, now.text].filter(Boolean).join('\n\n'));
    setAttachments([...sent.attachments, ...now.attachments]);
    setProblem(why);
  };
  /** Whether it is on its way. */
  const send = async (): Promise<boolean> => {
    if (!canSend) return false;
    const sent = { text, attachments };
    written.current = { text: '', attachments: [] };
    const files = attachments.filter((one) => !one.dataUrl).map((one) => one.file);
    setText('');
    setAttachments([]);
    setProblem('');
    setSending(files.length);
    try {
      const fileUrls = files.length > 0 ? (await tendon.files.upload(id, files)).uploaded_files : [];
      const imageUrls = sent.attachments.flatMap((one) => one.dataUrl ?? []);
      const comments = reviewComments.of(id);
      const whole = withComments(sent.text.trim(), comments);
      const isQueued = connection.say(whole, { imageUrls, fileUrls });
      if (isQueued) reviewComments.remove(id, ...comments);
      else giveBack(sent, t('Too many messages wait to be sent.'));
      return isQueued;
    } catch (error) {
      giveBack(sent, error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      setSending(0);
    }
  };
  return { text, setText, attachments, setAttachments, problem, sending, canSend, send };
}

function useSlash(): readonly Suggestion[] {
  const { id, connection } = useConversationActs();
  return [
    { name: '/pause', about: t('Pause the agent'), run: () => connection.send(actions.pause()) },
    { name: '/resume', about: t('Let it go on'), run: () => connection.send(actions.resume()) },
    { name: '/stop', about: t('Stop it'), run: () => connection.send(actions.stop()) },
    { name: '/compact', about: t('Compact the conversation'), run: () => connection.send(actions.shortenHistory()) },
    { name: '/export', about: t('Download as JSON'), run: () => void saveTrajectory(id) },
    { name: '/new', about: t('Begin another task'), run: () => navigate(paths.home) },
  ];
}

/** Names in the workspace, asked for once somebody wants one. */
function useFiles(id: string, isWanted: boolean): readonly Suggestion[] {
  const { data } = useQuery({
    queryKey: ['files', id, ''],
    queryFn: () => tendon.files.list(id),
    enabled: isWanted,
    staleTime: 10_000,
    retry: false,
  });
  return (data ?? []).map((name) => ({ name, insert: `${name} ` }));
}

function lastMessage(events: readonly { readonly id: number }[], id: number): string {
  const event = events.find((one) => one.id === id) as { readonly args?: { readonly content?: unknown } } | undefined;
  return typeof event?.args?.content === 'string' ? event.args.content : '';
}
