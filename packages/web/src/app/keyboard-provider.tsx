import { type ReactNode, useEffect, useState } from 'react';
import { CommandContext, type CommandRegistry, createRegistry } from '../lib/commands.ts';
import { keyMatches } from '../lib/keys.ts';

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
