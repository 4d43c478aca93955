import { Suspense, useState } from 'react';
import { useCommands } from '../../lib/commands.ts';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

/** Loaded when it is opened. */
const FindDialog = lazyPart(async () => ({ default: (await import('./find-dialog.tsx')).FindDialog }));

/** The page has only what is in view: what the browser's own search would miss is found by the server. */
export function FindInConversation({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  useCommands('find', [
    {
      id: 'find',
      title: t('Find in this conversation'),
      group: 'Here',
      keys: ['mod+f'],
      // An editor and a terminal have a use of their own for the key.
      run: () => document.activeElement?.closest('.cm-editor, .xterm') === null && setOpen(true),
    },
  ]);
  if (!isOpen) return null;
  return (
    <Suspense>
      <FindDialog id={id} onClose={() => setOpen(false)} />
    </Suspense>
  );
}
