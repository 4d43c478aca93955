import { useMutation, useQuery } from '@tanstack/react-query';
import { type ConversationNetwork, type Event, isAction, type WorkspaceChanges } from '@tendon/protocol';
import { actions } from '@tendon/client';
import { CircleCheck, FileDiff, Globe, type LucideIcon, TriangleAlert } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { lastCheck, type LastCheck, runAgain } from '../conversation/last-check.ts';
import { useConversation, useConversationActs } from '../conversation/open-conversation.ts';
import type { TurnSpan } from '../conversation/turn-spans.ts';
import { sizeWords } from '../copy/figures.ts';
import { cut, fileName, firstLine } from '../copy/shorten.ts';
import { tendon } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import type { RowPlace } from './item-row.tsx';
import { figure, t } from '../lib/language/text.ts';

const MAX_NAMES = 3;

/** What a turn has proven: from the log, the files and the proxy, not from what the model says. */
export function ReceiptRow({ span, position, size }: { readonly span: TurnSpan } & RowPlace) {
  const { snapshot } = useConversation();
  const turn = useMemo(() => snapshot.events.filter(({ id }) => id >= span.start && id <= span.end), [snapshot.events, span]);
  const check = useCheck(turn, span);
  const { data: changes } = useTurnChanges(span);
  const hosts = useReached(turn, span);
  const files = changes?.state === 'compared' ? changes : undefined;
  const verdict = verdictOf(turn, check, files);
  const rows = [
    files && files.count > 0 && <Files key="files" changes={files} span={span} />,
    check && <Check key="check" check={check} isNewest={span.next === undefined} />,
    hosts.length > 0 && <Reached key="hosts" hosts={hosts} />,
  ].filter(Boolean);
  if (rows.length === 0) {
    const words = files ? t('No file changed in this turn') : '';
    return (
      <article
        className={words ? 'note' : 'sr-only'}
        tabIndex={-1}
        aria-label={words || t('No receipt')}
        aria-posinset={position}
        aria-setsize={size}
      >
        {words}
      </article>
    );
  }
  return (
    <article
      className="event receipt"
      tabIndex={-1}
      aria-label={t('Receipt: {{facts}}', {
        facts: [
          files && t('{{count}} files', { count: files.count }),
          check && checkWords(check),
          hosts.length > 0 && t('{{count}} hosts', { count: hosts.length }),
          verdict,
        ]
          .filter(Boolean)
          .join(', '),
      })}
      aria-posinset={position}
      aria-setsize={size}
    >
      <span />
      <div className="receipt-box" data-tone={verdict ? 'bad' : undefined}>
        {verdict && check && <Verdict words={verdict} check={check} isNewest={span.next === undefined} />}
        {rows}
      </div>
    </article>
  );
}

/** What the workspace is against what it was before the turn; of an earlier turn, against the next one's beginning. */
function useTurnChanges({ start, end, next }: TurnSpan) {
  const { id, isWatched } = useConversationActs();
  return useQuery({
    queryKey: ['changes', id, 'turn', start, end, next],
    queryFn: () => tendon.review.changes(id, { against: `event:${start}`, until: next, isWaking: false }),
    enabled: !isWatched,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/**
 * The last check of the turn, as a person has run it again since. Files that a command or a person changed after it, which no event of the
 * log shows, are seen by comparing with what the workspace was then.
 */
function useCheck(turn: readonly Event[], { end, next }: TurnSpan): LastCheck | undefined {
  const { id, snapshot, isWatched } = useConversation();
  const ran = useMemo(() => {
    const found = lastCheck(turn);
    const after = found ? snapshot.events.filter((event) => event.id > end && (next === undefined || event.id < next)) : [];
    return found && runAgain(after, found);
  }, [turn, snapshot.events, end, next]);
  const { data } = useQuery({
    queryKey: ['changes', id, 'since-check', ran?.id, end, next],
    queryFn: () => tendon.review.changes(id, { against: `event:${ran!.id}`, until: next, isWaking: false }),
    enabled: !isWatched && ran !== undefined && !ran.isOutdated && ran.exitCode === 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const hasChanged = data?.state === 'compared' && data.count > 0;
  return ran && hasChanged ? { ...ran, isOutdated: true } : ran;
}

/** Where the sandbox connected to in the turn, by the proxy's record; nothing where there is no record of that time. */
function useReached(turn: readonly Event[], { end }: TurnSpan): ConversationNetwork['reached'] {
  const { id, isWatched } = useConversationActs();
  const { data } = useQuery({
    queryKey: ['network', id, 'turn', end],
    queryFn: () => tendon.conversations.network(id),
    enabled: !isWatched,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const from = Date.parse(turn[0]?.timestamp ?? '');
  const to = Date.parse(turn.at(-1)?.timestamp ?? '');
  return (data?.reached ?? []).filter(({ times }) => times.some((at) => Date.parse(at) >= from && Date.parse(at) <= to));
}

function Reached({ hosts }: { readonly hosts: ConversationNetwork['reached'] }) {
  const names = [...new Set(hosts.map(({ host }) => host))];
  const more = names.length - MAX_NAMES;
  const shown = names.slice(0, MAX_NAMES).join(', ');
  const bytes = (side: 'bytes_in' | 'bytes_out') => sizeWords(hosts.reduce((total, host) => total + host[side], 0));
  return (
    <Row icon={Globe}>
      <span className="font-medium">{t('Reached {{count}} hosts', { count: names.length })}</span>
      <span className="receipt-names truncate text-ink-3" title={names.join(', ')}>
        {more > 0 ? t('{{names}} and {{more}} more', { names: shown, more: figure(more) }) : shown}
      </span>
      <span className="text-ink-3" title={t('In the whole conversation, over connections that have ended')}>
        {t('{{in}} in, {{out}} out', { in: bytes('bytes_in'), out: bytes('bytes_out') })}
      </span>
    </Row>
  );
}

function Files({ changes, span }: { readonly changes: WorkspaceChanges; readonly span: TurnSpan }) {
  const { show } = useConversationActs();
  const { files } = changes;
  const sum = (side: 'added' | 'removed') => files.reduce((total, file) => total + (file[side] ?? 0), 0);
  const names = files.slice(0, MAX_NAMES).map(({ path }) => fileName(path));
  const more = changes.count - names.length;
  return (
    <Row icon={FileDiff}>
      <span className="font-medium">{t('{{count}} files', { count: changes.count })}</span>
      {sum('added') > 0 && <span className="tone-ok">+{figure(sum('added'))}</span>}
      {sum('removed') > 0 && <span className="tone-bad">−{figure(sum('removed'))}</span>}
      <span className="receipt-names truncate text-ink-3">
        {more > 0 ? t('{{names}} and {{more}} more', { names: names.join(', '), more: figure(more) }) : names.join(', ')}
      </span>
      {span.next === undefined && changes.base.checkpoint !== null && <UndoTurn checkpoint={changes.base.checkpoint} />}
      <Button small onClick={() => show({ tab: 'changes' })}>
        {t('See the changes')}
      </Button>
    </Row>
  );
}

/** The files as they were before the turn; the row of that restore takes it back. */
function UndoTurn({ checkpoint }: { readonly checkpoint: number }) {
  const { id } = useConversationActs();
  const undo = useMutation({ mutationFn: () => tendon.conversations.restore(id, checkpoint, 'files') });
  if (undo.isSuccess) return <span className="text-ink-3">{t('The files are back as they were.')}</span>;
  return (
    <>
      {undo.error && (
        <span role="alert" className="tone-bad">
          {undo.error.message}
        </span>
      )}
      <Button small isBusy={undo.isPending} onClick={() => undo.mutate()}>
        {t('Undo the file changes')}
      </Button>
    </>
  );
}

function Check({ check, isNewest }: { readonly check: LastCheck; readonly isNewest: boolean }) {
  const { isWatched } = useConversationActs();
  const isGood = check.exitCode === 0 && !check.isOutdated && !check.isUnproven;
  return (
    <Row icon={isGood ? CircleCheck : TriangleAlert} tone={isGood ? 'ok' : check.exitCode === 0 ? 'wait' : 'bad'}>
      <span className="mono truncate">{cut(firstLine(check.command), 80)}</span>
      <span className={isGood ? 'tone-ok' : check.exitCode === 0 ? 'tone-wait' : 'tone-bad'}>{resultWords(check)}</span>
      {isNewest && !isGood && !isWatched && <RunAgain command={check.command} />}
    </Row>
  );
}

/** By the person, in the agent's shell; its result takes the place of the one in the receipt. */
function RunAgain({ command }: { readonly command: string }) {
  const { connection, snapshot } = useConversation();
  const isRunning = snapshot.state.pending.some((action) => action.action === 'run' && action.source === 'user');
  return (
    <>
      <span className="flex-1" />
      <Button small aria-disabled={isRunning} onClick={() => void (!isRunning && connection.send(actions.run(command)))}>
        {isRunning ? t('Running it') : t('Run again')}
      </Button>
    </>
  );
}

function Verdict({ words, check, isNewest }: { readonly words: string; readonly check: LastCheck; readonly isNewest: boolean }) {
  const { connection } = useConversationActs();
  return (
    <Row icon={TriangleAlert} tone="bad">
      <b>{words}</b>
      <span className="flex-1" />
      {isNewest && (
        <Button
          small
          look="line"
          onClick={() =>
            void connection.say(
              t('`{{command}}` fails with exit code {{exitCode}}. Fix that first.', {
                command: firstLine(check.command),
                exitCode: check.exitCode ?? 0,
              }),
            )
          }
        >
          {t('Send that back')}
        </Button>
      )}
    </Row>
  );
}

function Row({ icon, tone, children }: { readonly icon: LucideIcon; readonly tone?: 'ok' | 'wait' | 'bad'; readonly children: ReactNode }) {
  return (
    <div className="receipt-line">
      <span className={tone && `tone-${tone}`}>
        <Icon of={icon} small />
      </span>
      {children}
    </div>
  );
}

/** In red: what contradicts an agent that says that it is done. */
function verdictOf(turn: readonly Event[], check: LastCheck | undefined, files: WorkspaceChanges | undefined): string | undefined {
  const finish = turn.findLast((event) => isAction(event) && event.action === 'finish');
  const isDone = finish && isAction(finish) && finish.action === 'finish' && finish.args.task_completed !== 'false';
  if (!isDone || !check || check.exitCode === undefined || check.exitCode === 0) return undefined;
  return files && files.count > 0 && !check.isOutdated
    ? t('The agent says done; the last check failed after its last edit.')
    : t('The agent says done; the last check failed.');
}

function checkWords(check: LastCheck): string {
  return `${firstLine(check.command)} ${resultWords(check)}`;
}

function resultWords({ exitCode, isOutdated, isUnproven }: LastCheck): string {
  if (exitCode === undefined) return t('did not end');
  if (isUnproven) return t('ran; whether it passed is not in the exit code of this line');
  const result = exitCode === 0 ? t('passed') : t('failed, exit {{exitCode}}', { exitCode });
  return isOutdated ? t('{{result}}, before the last edit', { result }) : result;
}
