import { actions } from '@tendon/client';
import { type Action, type Event, isAction } from '@tendon/protocol';
import { FoldVertical } from 'lucide-react';
import { useState } from 'react';
import { Prose } from '../../code/prose.tsx';
import { useConversation } from '../../conversation/open-conversation.ts';
import { clock } from '../../copy/figures.ts';
import { Button } from '../../ui/button.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import type { ActionCard } from './card.tsx';
import { t } from '../../lib/language/text.ts';

type Condensation = Action<'condensation'>;

export const condensationCard: ActionCard<'condensation'> = ({ action }) => {
  const { summary, undoes } = action.args;
  const detail = shortening(action.args);
  const verb = undoes === undefined ? t('Shortened the history') : t('Lengthened the history');
  return {
    icon: FoldVertical,
    verb,
    detail,
    facts: [{ text: clock(action.timestamp) }],
    name: `${verb}, ${detail}`,
    open: 'never',
    ...(summary && { copy: summary }),
    ...(undoes === undefined && { body: () => <CondensationBody action={action} /> }),
  };
};

function shortening(args: Condensation['args']): string {
  const { forgotten_event_ids: ids, forgotten_events_start_id: from, forgotten_events_end_id: to } = args;
  if (args.undoes !== undefined) return t('the agent is shown again what was left out');
  if (args.edits !== undefined) return t('you changed the summary');
  if (args.cleared_until !== undefined) return t('old results were taken out, nothing is lost');
  const forgotten = ids?.length ?? (from !== null && to !== null ? to - from + 1 : 0);
  return t('{{count}} events became a summary, nothing is lost', { count: forgotten });
}

/** What stands in the place of the older part, and for the newest of them, to change it or to take it back. */
function CondensationBody({ action }: { readonly action: Condensation }) {
  const { connection, snapshot, isWatched } = useConversation();
  const [isEditing, setEditing] = useState(false);
  const { canEdit, canUndo, text } = revisable(snapshot.events, action);
  if (isEditing && canEdit) {
    const save = (summary: string) => {
      connection.send(actions.editSummary(action.id, summary));
      setEditing(false);
    };
    return <SummaryForm text={text} onSave={save} onBack={() => setEditing(false)} />;
  }
  return (
    <>
      <Prose text={text || t('There is no summary. The log still has everything.')} quiet />
      {!isWatched && (canEdit || canUndo) && (
        <div className="remedy">
          {canEdit && (
            <Button look="line" onClick={() => setEditing(true)}>
              {t('Edit the summary')}
            </Button>
          )}
          {canUndo && (
            <Button look="line" onClick={() => connection.send(actions.undoCondensation(action.id))}>
              {t('Show the agent everything again')}
            </Button>
          )}
        </div>
      )}
    </>
  );
}

function SummaryForm(props: { readonly text: string; readonly onSave: (text: string) => void; readonly onBack: () => void }) {
  const [text, setText] = useState(props.text);
  const isEmpty = text.trim() === '';
  return (
    <form
      className="restore"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) props.onSave(text);
      }}
    >
      <p>{t('The agent is shown this text in place of the older part, from its next request on.')}</p>
      <textarea
        className="field w-full font-mono"
        rows={12}
        aria-label={t('The summary')}
        value={text}
        ref={focusOnMount}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="flex items-center gap-2">
        <Button look="main" type="submit" aria-disabled={isEmpty}>
          {t('Save')}
        </Button>
        <Button look="line" onClick={props.onBack}>
          {t('Cancel')}
        </Button>
      </div>
    </form>
  );
}

interface Revisable {
  readonly canEdit: boolean;
  readonly canUndo: boolean;
  /** As the agent is shown it: with the newest edit. */
  readonly text: string;
}

/** As the server decides it: the newest summary can be edited, and the newest condensation undone. */
function revisable(events: readonly Event[], { id, args }: Condensation): Revisable {
  const inForce: Condensation[] = [];
  let text = args.summary ?? '';
  for (const event of events) {
    if (!isAction(event) || event.action !== 'condensation') continue;
    const { edits, undoes, summary } = event.args;
    if (edits === id) text = summary ?? text;
    if (edits === undefined && undoes === undefined) inForce.push(event);
    else if (undoes !== undefined && inForce.at(-1)?.id === undoes) inForce.pop();
  }
  const newest = inForce.findLast((each) => each.args.cleared_until === undefined);
  return { canEdit: newest?.id === id, canUndo: inForce.at(-1)?.id === id, text };
}
