import { createContext, useContext, useEffect } from 'react';
import { t, textKey } from './language/text.ts';

/** One act of a person: what the palette lists, the keyboard runs and the key map shows. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly group: 'Here' | 'Go to' | 'Conversations' | 'App';
  /** Any of these, e.g. `mod+enter`, `g`, `escape`; the first is shown. */
  readonly keys?: readonly string[];
  /** `stream`: single letters that act only while the stream has the focus. */
  readonly when?: 'always' | 'stream';
  /** `false`: not now; not listed. */
  readonly enabled?: boolean;
  /** `false`: it has a key and no line in the palette. */
  readonly listed?: boolean;
  /** `false`: the key was not meant for this; the next command with it, or the browser, may have it. */
  readonly run: () => boolean | void;
}

export interface CommandRegistry {
  /** The commands that are there now, in the order in which they came. */
  readonly all: () => readonly Command[];
  readonly set: (owner: string, commands: readonly Command[]) => void;
  readonly remove: (owner: string) => void;
  readonly openPalette: () => void;
  readonly onPalette: (listener: () => void) => () => void;
}

export function createRegistry(): CommandRegistry {
  const owners = new Map<string, readonly Command[]>();
  const listeners = new Set<() => void>();
  return {
    all: () => [...owners.values()].flat().filter((command) => command.enabled !== false),
    set: (owner, commands) => void owners.set(owner, commands),
    remove: (owner) => void owners.delete(owner),
    openPalette: () => listeners.forEach((listener) => listener()),
    onPalette: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export const CommandContext = createContext<CommandRegistry>(createRegistry());

/** These commands exist while the component is there. */
export function useCommands(owner: string, commands: readonly Command[]): void {
  const registry = useContext(CommandContext);
  useEffect(() => registry.set(owner, commands));
  useEffect(() => () => registry.remove(owner), [registry, owner]);
}

/** Whether the letters of `typed` stand in `text` in this order; case and spaces do not count. */
export function fuzzyMatches(typed: string, text: string): boolean {
  const wanted = typed.toLowerCase().replaceAll(/\s/g, '');
  let at = 0;
  for (const letter of text.toLowerCase()) if (letter === wanted[at]) at += 1;
  return at >= wanted.length;
}

const GROUPS = [textKey('Here'), textKey('Go to'), textKey('Conversations'), textKey('App')] as const satisfies readonly Command['group'][];

/** What matches best comes first; of equals, what is here before what is somewhere, and what waits for a person before all of it. */
export function bestFirst(typed: string, commands: readonly Command[]): readonly Command[] {
  const wanted = typed.trim().toLowerCase();
  const place = ({ title, group, id }: Command): number =>
    rank(wanted, title.toLowerCase()) * 10 + (id === 'approve' || id === 'reject' ? 0 : 1 + GROUPS.indexOf(group));
  return commands.filter((command) => fuzzyMatches(typed, `${t(command.group)} ${command.title}`)).toSorted((a, b) => place(a) - place(b));
}

/** 0: begins with it · 1: a word of it does · 2: has it · 3: only its letters in order. */
function rank(wanted: string, title: string): number {
  if (title.startsWith(wanted)) return 0;
  if (title.includes(` ${wanted}`)) return 1;
  return title.includes(wanted) ? 2 : 3;
}
