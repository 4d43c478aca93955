import type { ComponentProps, MouseEvent, ReactNode } from 'react';
import { keyText } from '../lib/keys.ts';
import { cx } from './cx.ts';

export interface ButtonProps extends ComponentProps<'button'> {
  /** `main`: the one filled button of a view. */
  readonly look?: 'plain' | 'line' | 'main' | 'quiet';
  readonly small?: boolean;
  /** As in the key registry, e.g. `mod+enter`; shown beside the words. */
  readonly hint?: string;
  /** What it does is under way: it cannot be pressed again, and keeps the focus, as one that is disabled would not. */
  readonly isBusy?: boolean;
}

export function Button({ look = 'plain', small, hint, isBusy, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={cx('button', look !== 'plain' && `button-${look}`, small && 'button-small', className)}
      {...(hint && { 'aria-keyshortcuts': ariaKeys(hint) })}
      {...rest}
      {...(isBusy && { 'aria-disabled': true, 'aria-busy': true, onClick: refuse })}
    >
      {children}
      {hint && <kbd aria-hidden="true">{keyText(hint)}</kbd>}
    </button>
  );
}

/** Nor does it submit its form. */
const refuse = (event: MouseEvent) => event.preventDefault();

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'aria-label'> {
  readonly label: string;
  readonly children: ReactNode;
}

/** A button whose name is not written on it: the name is its tooltip too. */
export function IconButton({ label, hint, className, ...rest }: IconButtonProps) {
  const title = hint ? `${label} (${keyText(hint)})` : label;
  return <Button aria-label={label} title={title} className={cx('button-icon', className)} {...rest} />;
}

function ariaKeys(hint: string): string {
  return hint.replace('mod', 'Control').replace(/(^|\+)([a-z])/g, (_, join: string, letter: string) => join + letter.toUpperCase());
}
