import { useContext, useEffect, useId, useRef, useState } from 'react';
import { type Command, CommandContext, fuzzyMatches } from '../lib/commands.ts';
import { keyText } from '../lib/keys.ts';

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
      aria-label="Commands"
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
  const hits = commands.filter((command) => fuzzyMatches(text, `${command.group} ${command.title}`));
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
        aria-label="Command"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={hits[chosen] ? `${id}-${chosen}` : undefined}
        placeholder="Search or run a command"
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label="Commands" className="scroll">
        {hits.map((command, index) => (
          <div
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className="option"
            ref={index === chosen ? (row) => row?.scrollIntoView({ block: 'nearest' }) : undefined}
            onPointerMove={() => setChosen(index)}
            onClick={() => run(command)}
          >
            <span className="truncate">{command.title}</span>
            <span className="flex-1" />
            {command.keys?.[0] && <kbd>{keyText(command.keys[0])}</kbd>}
          </div>
        ))}
        {hits.length === 0 && <p className="px-2 py-2 text-ink-3">Nothing has this name</p>}
      </div>
    </>
  );
}
