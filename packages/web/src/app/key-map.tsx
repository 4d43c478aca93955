import { useContext, useRef, useState } from 'react';
import { type Command, CommandContext, useCommands } from '../lib/commands.ts';
import { keyText } from '../lib/keys.ts';
import { Button } from '../ui/button.tsx';

/** Every key there is on this page, from the same registry that runs them. */
export function KeyMap() {
  const registry = useContext(CommandContext);
  const dialog = useRef<HTMLDialogElement>(null);
  const [commands, setCommands] = useState<readonly Command[]>([]);
  const open = () => {
    setCommands(registry.all().filter((command) => command.keys?.length));
    dialog.current?.showModal();
  };
  useCommands('key-map', [{ id: 'key-map', title: 'Key map', group: 'App', keys: ['?'], when: 'stream', run: open }]);
  const groups = [...Map.groupBy(commands, (command) => command.group)];
  return (
    <dialog ref={dialog} className="palette key-map" aria-labelledby="key-map-heading">
      <header>
        <h2 id="key-map-heading" className="flex-1 font-semibold">
          Keys
        </h2>
        <Button onClick={() => dialog.current?.close()}>Close</Button>
      </header>
      <div className="scroll" tabIndex={0} role="group" aria-label="Keys of this page">
        {groups.map(([group, list]) => (
          <section key={group} aria-label={group}>
            <h3 className="pt-2 text-small text-ink-3">{group}</h3>
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
        <p className="pt-3 text-small text-ink-3">Single letters act while the stream has the focus.</p>
      </div>
    </dialog>
  );
}
