import { useEffect, useId, useRef, useState, type ReactNode } from 'react';

export interface PopupProps {
  /** The button's content and look; it gets the ARIA of a popup button. */
  readonly button: (props: PopupButtonProps) => ReactNode;
  readonly children: (close: () => void) => ReactNode;
  readonly label: string;
  readonly side?: 'above' | 'below';
  readonly align?: 'start' | 'end';
}

export interface PopupButtonProps {
  readonly onClick: () => void;
  readonly 'aria-expanded': boolean;
  readonly 'aria-controls': string;
  readonly 'aria-haspopup': 'dialog';
}

/** A box that belongs to a button: Esc and a click outside close it, and the button gets the focus back. */
export function Popup({ button, children, label, side = 'below', align = 'start' }: PopupProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const id = useId();
  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>('[aria-haspopup]')?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    // What is in it comes next; a field that took the focus already has it.
    const box = root.current?.querySelector<HTMLElement>('[role=dialog]');
    if (!box?.contains(document.activeElement)) box?.querySelector<HTMLElement>('input, button, a[href]')?.focus();
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [isOpen]);
  return (
    <span
      ref={root}
      className="anchor"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.stopPropagation();
        close();
      }}
    >
      {button({ onClick: () => setOpen(!isOpen), 'aria-expanded': isOpen, 'aria-controls': id, 'aria-haspopup': 'dialog' })}
      {isOpen && (
        <div id={id} role="dialog" aria-label={label} className="popup scroll" data-side={side} data-align={align}>
          {children(close)}
        </div>
      )}
    </span>
  );
}

/** As a `ref`: the field has the focus from when it appears. */
export function focusOnMount(field: HTMLElement | null): void {
  field?.focus();
}
