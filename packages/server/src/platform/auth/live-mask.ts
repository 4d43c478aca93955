import { createMask, type Mask, type Secret } from '@tendon/protocol/masking';

/** A mask over the secrets there are at the moment: a key that is stored while a task runs is hidden from then on. */
export function liveMask(secrets: () => readonly Secret[]): Mask {
  let values = '';
  let mask = createMask([]);
  const current = () => {
    const now = secrets();
    const key = now.map((secret) => secret.reveal()).join('\0');
    if (key !== values) mask = createMask(now);
    values = key;
    return mask;
  };
  return {
    text: (text) => current().text(text),
    draft: (draft) => current().draft(draft),
    stream: () => current().stream(),
  };
}
