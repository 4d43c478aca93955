import { useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';

/** In the place of the row that goes; it can be taken back while it is here. */
export function DeletedRow({ title, onUndo }: { readonly title: string; readonly onUndo: () => void }) {
  const undo = useRef<HTMLButtonElement>(null);
  // The button that had the focus is gone; this one is its heir.
  useEffect(() => undo.current?.focus(), []);
  return (
    <div className="conversation-row text-ink-2" role="status">
      <span />
      <span className="truncate">Deleted “{title}”</span>
      <span className="only-wide" />
      <span className="only-wide" />
      <span className="only-wide" />
      <Button ref={undo} look="line" small onClick={onUndo}>
        Undo
      </Button>
    </div>
  );
}
