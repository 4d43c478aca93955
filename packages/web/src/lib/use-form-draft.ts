import { useState } from 'react';

/** What a person writes into a form, over what is stored. */
export interface FormDraft<T extends object> {
  /** Each field as it was written here, else as it is stored. */
  readonly shown: T;
  /** Something was written that is not stored. */
  readonly isEdited: boolean;
  readonly write: (fields: Partial<T>) => void;
  /** Called when a save begins. What it returns is called when that has ended well: it drops what was sent, and leaves what was written since. */
  readonly send: () => () => void;
}

/** It stays when something else is stored meanwhile, by a save that ends or by somebody else: nothing that is typed is lost to an answer. */
export function useFormDraft<T extends object>(stored: T): FormDraft<T> {
  const [written, setWritten] = useState<Partial<T>>({});
  return {
    shown: { ...stored, ...written },
    isEdited: Object.keys(differing(written, stored)).length > 0,
    write: (fields) => setWritten((now) => ({ ...now, ...fields })),
    send: () => () => setWritten((now) => differing(now, written)),
  };
}

function differing<T extends object>(fields: Partial<T>, from: Partial<T>): Partial<T> {
  const entries = Object.entries(fields).filter(([name, value]) => value !== from[name as keyof T]);
  return Object.fromEntries(entries) as Partial<T>;
}
