import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { NoteFileInfo } from '@tendon/protocol';
import { useId, useState } from 'react';
import { agentsQuery, tendon } from '../../lib/server.ts';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { Button } from '../../ui/button.tsx';
import { ExtensionList } from './extension-list.tsx';
import { ListSection } from './list-section.tsx';
import { SettingForm, SettingSection } from './setting-form.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const BUILT_IN: Readonly<Record<string, PlainText>> = {
  CodeActAgent: textKey('works with commands, cells, files and pages'),
  ExploreAgent: textKey('reads and changes nothing'),
  PlanAgent: textKey('only plans, and asks before it is carried out'),
};

/** The default agent, the notes of agents, and the extensions that the user added. */
export function AgentsPage() {
  return (
    <>
      <SettingSection title={t('Agent')} about={t('Conversations that choose none begin with this one.')}>
        {({ agent }) => <AgentForm agent={agent || 'CodeActAgent'} />}
      </SettingSection>
      <NoteList />
      <ExtensionList />
    </>
  );
}

function AgentForm(stored: { readonly agent: string }) {
  const draft = useFormDraft(stored);
  const { agent } = draft.shown;
  const agents = useQuery(agentsQuery);
  return (
    <SettingForm draft={draft} changes={{ agent }}>
      <label className="flex flex-col gap-1">
        {t('Agent')}
        <select className="field w-full flex-none" value={agent} onChange={(event) => draft.write({ agent: event.target.value })}>
          {(agents.data ?? [agent]).map((name) => (
            <option key={name} value={name}>
              {name.replace(/Agent$/, '')}: {t(BUILT_IN[name] ?? 'a file of the user')}
            </option>
          ))}
        </select>
      </label>
    </SettingForm>
  );
}

const queryKey = ['notes'];

function NoteList() {
  const notes = useQuery({ queryKey, queryFn: tendon.notes.list, retry: false });
  return (
    <ListSection
      title={t('Notes')}
      about={t('What agents remember between conversations, for you and for each repository. They write them; you correct them.')}
      list={notes}
      none={t('Nothing was noted yet.')}
    >
      {(file) => (
        <li key={file.name}>
          <NoteForm file={file} />
        </li>
      )}
    </ListSection>
  );
}

/** The draft, and the notes as they were when it was begun: agents change them too. */
interface NoteDraft {
  readonly text: string;
  readonly was: string;
}

function NoteForm({ file: { name, path, text: stored, problem } }: { readonly file: NoteFileInfo }) {
  const queries = useQueryClient();
  const id = useId();
  const [draft, setDraft] = useState<NoteDraft>();
  const text = draft?.text ?? stored;
  const save = useMutation({
    mutationFn: (sent: NoteDraft) => tendon.notes.replace(name, sent.text, sent.was),
    // Text that was typed meanwhile stays in the draft, on top of what was saved.
    onSuccess: (file, sent) => setDraft((now) => (now && now !== sent ? { text: now.text, was: file.text } : undefined)),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <form
      className="setting-form w-full"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft && !save.isPending) save.mutate(draft);
      }}
    >
      <label htmlFor={id}>
        {name === 'user' ? t('About you and everything') : t('About {{name}}', { name: name.replace('repositories/', '') })}{' '}
        <span className="text-small text-ink-3">{path}</span>
      </label>
      <textarea
        id={id}
        className="field w-full font-mono"
        rows={6}
        value={text}
        onChange={(event) => setDraft({ text: event.target.value, was: draft?.was ?? stored })}
      />
      {problem && <p className="tone-bad">{problem}</p>}
      <div className="flex items-center gap-2">
        <Button type="submit" look="line" disabled={text === stored} isBusy={save.isPending}>
          {text.trim() === '' ? t('Remove these notes') : t('Save these notes')}
        </Button>
        {draft && draft.was !== stored && (
          <Button onClick={() => setDraft(undefined)}>{t('Drop this and show what was noted meanwhile')}</Button>
        )}
        <span role="status" className="text-small text-ink-2">
          {save.isSuccess && t('Saved')}
        </span>
      </div>
      {save.error && (
        <p role="alert" className="tone-bad">
          {save.error.message}
        </p>
      )}
    </form>
  );
}
