import { BookOpen } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { count } from '../../copy/counts.ts';
import { clock } from '../../copy/times.ts';
import type { ObservationCard } from './card.ts';

export const recallCard: ObservationCard<'recall'> = ({ extras, timestamp }) => {
  const notes = extras.microagent_knowledge;
  const sources = [
    ...(extras.repo_instructions ? ['project notes'] : []),
    ...(notes.length > 0 ? [`${count(notes.length, 'note')} on “${notes[0]!.trigger || notes[0]!.name}”`] : []),
  ].join(', ');
  const text = [extras.repo_instructions, ...notes.map((note) => `**${note.name}**\n\n${note.content}`)].filter(Boolean).join('\n\n');
  const isWorkspace = extras.recall_type === 'workspace_context' || extras.recall_type === 'environment_info';
  const verb = sources === '' ? 'Looked for notes' : isWorkspace ? 'Recalled the project notes' : 'Recalled notes';
  return {
    icon: BookOpen,
    verb,
    detail: sources || 'none for this',
    facts: [{ text: clock(timestamp) }],
    name: `${verb}, ${sources}`,
    open: 'never',
    ...(text && { copy: text, body: () => <Prose text={text} quiet /> }),
  };
};
