import { actions, type ConnectionState, type ConversationSnapshot } from '@tendon/client';
import { canRequest, isAction } from '@tendon/protocol';
import { Pause, RotateCcw, Square } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useConversation } from '../conversation/open-conversation.ts';
import { elapsed } from '../copy/figures.ts';
import type { StateNow } from '../conversation/state-now.ts';
import { pastWords } from '../copy/state-sentence.ts';
import { reachedLimit } from '../copy/reached-limit.ts';
import { useNow } from '../lib/use-now.ts';
import { Button } from '../ui/button.tsx';
import { Icon, StateGlyph } from '../ui/icon.tsx';
import { Late } from '../ui/placeholder.tsx';
import { ResumeButton } from './resume-button.tsx';
import { ConnectionWords } from './connection-words.tsx';
import { t, textKey } from '../lib/language/text.ts';

const MOVING: ReadonlySet<string> = new Set([
  'loading',
  'running',
  'rate_limited',
  'awaiting_user_input',
  'awaiting_user_confirmation',
  'user_confirmed',
  'user_rejected',
]);

const NEEDS_YOU: ReadonlySet<string> = new Set(['awaiting_user_input', 'awaiting_user_confirmation']);

/** 40 px, never absent: what is going on in one sentence, for how long, and what can be done about it. */
export function StateLine({ sentence }: { readonly sentence: StateNow }) {
  const { snapshot, toConversation } = useConversation();
  const isConnected = snapshot.connection.state === 'connected';
  const state = snapshot.state.agentState;
  const now = useNow(!isConnected || (MOVING.has(state) && snapshot.loaded));
  const age = sentence.since === undefined ? undefined : (sentence.until ?? now) - sentence.since;
  const showsAge = age !== undefined && age >= 1000 && (MOVING.has(state) || state === 'finished') && isConnected;
  const text = !snapshot.loaded ? '' : isConnected ? sentence.text : lastKnown(sentence.text, snapshot.connection, now);
  return (
    <div className="state-line">
      {snapshot.loaded && <StateGlyph glyph={isConnected ? sentence.glyph : 'held'} />}
      {!snapshot.loaded && (
        <Late>{snapshot.events.length > 0 ? t('Loading {{count}} events', { count: snapshot.events.length }) : t('Connecting')}</Late>
      )}
      <span className="sentence" title={text}>
        {text}
      </span>
      <span role="status" className="sr-only">
        {useCalm(heardSentence(sentence.text, snapshot))}
      </span>
      {showsAge && <span className="elapsed">{elapsed(age)}</span>}
      <ConnectionWords snapshot={snapshot} />
      <span className="flex-1" />
      {(NEEDS_YOU.has(state) || snapshot.connection.state === 'refused') && toConversation && (
        <Button className="to-conversation" onClick={toConversation}>
          {t('Answer')}
        </Button>
      )}
      {snapshot.loaded && <StateActs />}
    </div>
  );
}

const HEARD_AWAY = {
  connecting: textKey('Connecting'),
  reconnecting: textKey('Reconnecting'),
  offline: textKey('Offline'),
  refused: textKey('Signed out'),
  closed: textKey('Closed'),
} as const satisfies Record<Exclude<ConnectionState['state'], 'connected'>, string>;

const MARK = '\uE000';

/** What is read aloud: seconds that count down are for the eye, and nobody listens to the letters of a command. */
function heardSentence(text: string, snapshot: ConversationSnapshot): string {
  const { connection, loaded } = snapshot;
  if (connection.state !== 'connected') return t(HEARD_AWAY[connection.state]);
  if (!loaded) return t('Loading');
  const paragraphs = answerLength(snapshot);
  if (paragraphs > 0) return t('Answer ready, {{count}} paragraphs. {{text}}', { count: paragraphs, text });
  const [before, after] = t('Running {{command}}', { command: MARK }).split(MARK) as [string, string];
  if (text.startsWith(before) && text.endsWith(after) && text !== t('Running Python')) return t('Running a command');
  const [again, unit] = t('{{trouble}}, trying again in {{left}} s', { trouble: '', left: MARK }).split(MARK) as [string, string];
  const start = text.indexOf(again);
  const end = start === -1 ? -1 : text.indexOf(unit, start + again.length);
  return end === -1 ? text : text.slice(0, start) + text.slice(end + unit.length);
}

/** In paragraphs, of what the agent answered last; 0 while it does not wait for the person. */
function answerLength({ events, state }: ConversationSnapshot): number {
  if (state.agentState !== 'awaiting_user_input') return 0;
  const last = events.findLast((event) => isAction(event) && event.action === 'message');
  if (last?.source !== 'agent' || !isAction(last) || last.action !== 'message') return 0;
  return last.args.content.split(/\n\s*\n/).filter((part) => part.trim()).length;
}

function StateActs() {
  const { connection, snapshot } = useConversation();
  const state = snapshot.state.agentState;
  if (snapshot.connection.state === 'offline') {
    return (
      <Button title={t('Try now')} onClick={connection.retry}>
        <Icon of={RotateCcw} small />
        <span>{t('Try now')}</span>
      </Button>
    );
  }
  if (snapshot.connection.state !== 'connected') return null;
  const isAtWork = MOVING.has(state) && state !== 'awaiting_user_input';
  const hasFailed = state === 'error' && !reachedLimit(snapshot.state.reason);
  const resume = () => connection.send(actions.resume());
  return (
    <>
      {isAtWork && state !== 'loading' && canRequest(state, 'paused') && (
        <Button title={t('Pause')} onClick={() => connection.send(actions.pause())}>
          <Icon of={Pause} small />
          <span>{t('Pause')}</span>
        </Button>
      )}
      {isAtWork && (
        <Button hint="ctrl+c" title={t('Stop')} onClick={() => connection.send(actions.stop())}>
          <Icon of={Square} small />
          <span>{t('Stop')}</span>
        </Button>
      )}
      {(state === 'paused' || state === 'stopped') && <ResumeButton words={t('Resume')} onResume={resume} />}
      {state === 'error' && !hasFailed && <ResumeButton words={t('Continue')} onResume={resume} />}
      {hasFailed && (
        <Button title={t('Try again')} onClick={resume}>
          <Icon of={RotateCcw} small />
          <span>{t('Try again')}</span>
        </Button>
      )}
    </>
  );
}

/** What was last known, put in the past: "Was running npm test, 20 s ago". */
function lastKnown(sentence: string, connection: ConnectionState, now: number): string {
  if (connection.state === 'connecting') return now - connection.since < 1000 ? '' : t('Connecting');
  return t('{{sentence}}, as of {{time}} ago', { sentence: pastWords(sentence), time: elapsed(now - connection.since) });
}

const AT_MOST_EVERY_MS = 2_000;

/** The text, changed at most every two seconds: what is read aloud must be able to be heard. */
function useCalm(text: string): string {
  const [calm, setCalm] = useState(text);
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + AT_MOST_EVERY_MS - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      setCalm(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [text]);
  return calm;
}
