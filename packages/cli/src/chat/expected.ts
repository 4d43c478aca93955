import type { Action } from '@tendon/protocol';

/** What is expected of the person who chats. */
export type Expected =
  | { readonly state: 'message' }
  | { readonly state: 'nothing' }
  | { readonly state: 'decision'; readonly action: Action }
  /** The replacement for the waiting command. */
  | { readonly state: 'edit'; readonly action: Action }
  /** A line for the program itself; `undefined` if there will be none. */
  | { readonly state: 'reply'; readonly isHidden: boolean; readonly settle: (line: string | undefined) => void }
  | { readonly state: 'answer'; readonly choices: readonly string[] };

export const PROMPTS = { message: '> ', nothing: '', decision: '? ', edit: '$ ', answer: '? ', reply: '? ' } as const;
