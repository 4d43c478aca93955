import { ChevronDown, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Popup } from '../../ui/popup.tsx';

/** Where the agent works: a folder of the server's machine, or the one the server gives. */
export function FolderChoice(props: { readonly icon: LucideIcon; readonly folder: string; readonly onFolder: (folder: string) => void }) {
  const { icon, folder, onFolder } = props;
  const [text, setText] = useState(folder);
  const shown = folder || 'Default folder';
  return (
    <Popup
      label="Folder"
      button={(popup) => (
        <Button look="quiet" aria-label={`Folder: ${shown}`} {...popup}>
          <Icon of={icon} small />
          <span className="max-w-60 truncate">{shown}</span>
          <Icon of={ChevronDown} small />
        </Button>
      )}
    >
      {(close) => (
        <form
          className="flex w-80 max-w-full flex-col gap-2 p-2"
          onSubmit={(event) => {
            event.preventDefault();
            onFolder(text.trim());
            close();
          }}
        >
          <label htmlFor="folder" className="font-medium">
            Folder on the server’s machine
          </label>
          <input
            id="folder"
            className="field w-full flex-none"
            value={text}
            placeholder="/home/me/project"
            ref={(field) => field?.focus()}
            onChange={(event) => setText(event.target.value)}
          />
          <p className="text-small text-ink-3">Empty: the folder the server gives. In the sandbox it is /workspace.</p>
          <Button type="submit" look="line">
            Use this folder
          </Button>
        </form>
      )}
    </Popup>
  );
}
