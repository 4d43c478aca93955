import { type ReactNode, useContext, useEffect, useId, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { cut } from '../copy/shorten.ts';
import { bestFirst, type Command, CommandContext, type CommandRegistry, createRegistry, useCommands } from '../lib/commands.ts';
import { keyMatches, keyText } from '../lib/keys.ts';
import { paths } from '../lib/paths.ts';
import { conversationsQuery } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { focusOnMount } from '../ui/popup.tsx';
import { navigate } from '../lib/address.tsx';
import { t } from '../lib/language/text.ts';

const WITHIN_MS = 800;

/** One listener for the whole app; what a key does is in the registry. */
export function KeyboardProvider({ children }: { readonly children: ReactNode }) {
  const [registry] = useState(createRegistry);
  useEffect(() => listen(registry), [registry]);
  return <CommandContext value={registry}>{children}</CommandContext>;
}

function listen(registry: CommandRegistry): () => void {
  let leader = { key: '', at: 0 };
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const target = event.target as HTMLElement;
    // A dialog has the keyboard for itself.
    if (target.closest('dialog[open]')) return;
    const inStream = target.closest('.stream') !== null && !isTyping(target);
    const sequence = event.timeStamp - leader.at < WITHIN_MS ? `${leader.key} ${event.key}` : '';
    for (const command of registry.all()) {
      if (command.when === 'stream' && !inStream) continue;
      const hit = command.keys?.find((keys) => (keys.includes(' ') ? keys === sequence : keyMatches(keys, event)));
      // Letters belong to the field that has the focus.
      if (!hit || (isTyping(target) && hit.length === 1)) continue;
      if (command.run() === false) continue;
      event.preventDefault();
      leader = { key: '', at: 0 };
      return;
    }
    if (inStream && event.key === 'g') leader = { key: 'g', at: event.timeStamp };
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

function isTyping(target: HTMLElement): boolean {
  return target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'INPUT' || target.tagName === 'SELECT';
}

/** Every command by name. ⌘K opens it; ↑ ↓ choose, ⏎ runs, Esc closes. */
export function Palette() {
  const registry = useContext(CommandContext);
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(
    () =>
      registry.onPalette(() => {
        setOpen(true);
        if (!dialog.current?.open) dialog.current?.showModal();
      }),
    [registry],
  );
  const close = () => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label={t('Commands')}
      onClose={() => setOpen(false)}
      onClick={(event) => event.target === dialog.current && close()}
    >
      {isOpen && <PaletteList commands={registry.all().filter((command) => command.listed !== false)} close={close} />}
    </dialog>
  );
}

function PaletteList({ commands, close }: { readonly commands: readonly Command[]; readonly close: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const conversations = useConversationCommands(text);
  const hits = bestFirst(text, [...commands, ...conversations]);
  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((now) => (now + step + hits.length) % Math.max(1, hits.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(hits[chosen]);
    }
  };
  return (
    <>
      <input
        role="combobox"
        aria-label={t('Command')}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={hits[chosen] ? `${id}-${chosen}` : undefined}
        placeholder={t('Run a command or find a conversation')}
        ref={focusOnMount}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Hits id={id} hits={hits} chosen={chosen} onChoose={setChosen} onRun={run} typed={text} />
    </>
  );
}

interface HitsProps {
  readonly id: string;
  readonly hits: readonly Command[];
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  readonly onRun: (command: Command) => void;
  readonly typed: string;
}

function Hits({ id, hits, chosen, onChoose, onRun, typed }: HitsProps) {
  return (
    <div id={id} role="listbox" aria-label={t('Commands')} className="scroll">
      {hits.map((command, index) => (
        <div
          key={command.id}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          className="option"
          ref={index === chosen ? (row) => row?.scrollIntoView({ block: 'nearest' }) : undefined}
          onPointerMove={() => onChoose(index)}
          onClick={() => onRun(command)}
        >
          <span className="truncate">{command.title}</span>
          <span className="flex-1" />
          {command.group === 'Conversations' && <span className="text-ink-3">{t('Conversation')}</span>}
          {command.keys?.[0] && <kbd>{keyText(command.keys[0])}</kbd>}
        </div>
      ))}
      {hits.length === 0 && <p className="px-2 py-2 text-ink-3">{t('No match for “{{text}}”', { text: cut(typed, 60) })}</p>}
    </div>
  );
}

const MAX_CONVERSATIONS = 8;

/** Conversations whose title has what was typed, newest first. */
function useConversationCommands(text: string): readonly Command[] {
  const { data = [] } = useQuery({ ...conversationsQuery, refetchInterval: false });
  const typed = text.trim().toLowerCase();
  if (typed === '') return [];
  const found = data.filter(({ title }) => title.toLowerCase().includes(typed)).slice(0, MAX_CONVERSATIONS);
  return found.map(({ conversation_id: id, title }) => ({
    id: `conversation-${id}`,
    title,
    group: 'Conversations',
    run: () => navigate(paths.conversation(id)),
  }));
}

/** Every key there is on this page, from the same registry that runs them. */
export function KeyMap() {
  const registry = useContext(CommandContext);
  const dialog = useRef<HTMLDialogElement>(null);
  const [commands, setCommands] = useState<readonly Command[]>([]);
  const open = () => {
    setCommands(registry.all().filter((command) => command.keys?.length));
    dialog.current?.showModal();
  };
  useCommands('key-map', [{ id: 'key-map', title: t('Keyboard shortcuts'), group: 'App', keys: ['?'], run: open }]);
  const groups = [...Map.groupBy(commands, (command) => command.group)];
  return (
    <dialog ref={dialog} className="palette key-map" aria-labelledby="key-map-heading">
      <header>
        <h2 id="key-map-heading" className="flex-1 font-semibold">
          {t('Keyboard shortcuts')}
        </h2>
        <Button onClick={() => dialog.current?.close()}>{t('Close')}</Button>
      </header>
      <div className="scroll" tabIndex={0} role="group" aria-label={t('Keys of this page')}>
        {groups.map(([group, list]) => (
          <section key={group} aria-label={t(group)}>
            <h3 className="pt-2 text-small text-ink-3">{t(group)}</h3>
            <dl>
              {list.map((command) => (
                <div key={command.id}>
                  <dt>{command.title}</dt>
                  <dd>
                    {command.keys!.map((keys) => (
                      <kbd key={keys}>{keyText(keys)}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p className="pt-3 text-small text-ink-3">{t('Single-letter keys work when the conversation has focus.')}</p>
      </div>
    </dialog>
  );
}
