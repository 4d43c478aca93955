import type { Observation, ObservationKind } from '@tendon/protocol';
import { Check, FilePlus2, FileText, FoldVertical, Globe, NotebookText, Terminal } from 'lucide-react';
import { DiffTable } from '../../code/diff-table.tsx';
import { firstLine } from '../../copy/state-sentence.ts';
import { editDiff } from './edit-diff.ts';
import type { Card, ObservationCard } from './card.ts';
import { Well } from '../../code/well.tsx';
import { recallCard } from './recall-card.tsx';
import { changeFacts, editedCard } from './edit-card.tsx';
import { errorCard, rejectedCard, stateCard } from './error-card.tsx';
import { genericCard } from './generic-card.tsx';

/** For observations whose action is not known, e.g. of a person's own command on another server. */
const row = (icon: Card['icon'], verb: string, object: string, content: string): Card => ({
  ...(icon && { icon }),
  verb,
  object,
  facts: [],
  name: `${verb} ${object}`,
  open: 'newest',
  copy: content,
  ...(content.trim() && { body: () => <Well text={content} rows /> }),
});

const plain = (observation: Observation): Card => genericCard(observation.observation, observation.content.slice(0, 120), [observation]);

/** A card for every kind of observation that stands alone. */
export const OBSERVATION_CARDS = {
  null: plain,
  run: (event) => row(Terminal, 'Ran', firstLine(event.extras.command), event.content),
  run_ipython: (event) => row(NotebookText, 'Ran Python', firstLine(event.extras.code), event.content),
  read: (event) => row(FileText, 'Read', event.extras.path, event.content),
  write: (event) => row(FilePlus2, 'Wrote', event.extras.path, event.content),
  edit: (event) => {
    const diff = editDiff(event);
    const { path, prev_exist: existed } = event.extras;
    return editedCard(path, changeFacts(diff.added, diff.removed), () => <DiffTable diff={diff} path={path} isNew={!existed} rows={20} />);
  },
  download: (event) => row(FileText, 'Downloaded', event.extras.file_path, ''),
  browse: (event) => row(Globe, 'Opened', event.extras.url, event.content),
  chat: plain,
  message: plain,
  agent_state_changed: stateCard,
  think: plain,
  condense: (event) => ({
    icon: FoldVertical,
    verb: 'Shortened the history',
    detail: event.content,
    facts: [],
    name: 'Shortened the history',
    open: 'never',
  }),
  delegate: plain,
  recall: recallCard,
  task_tracking: plain,
  loop_detection: plain,
  mcp: plain,
  error: errorCard,
  success: (event) => ({ icon: Check, verb: event.content, facts: [], name: event.content, open: 'never' }),
  user_rejected: rejectedCard,
} as const satisfies { readonly [K in ObservationKind]: ObservationCard<K> };
