import type { NetworkPolicy } from '@tendon/runtime';

/** For the banner and the status bar: the usual need not be said, what was opened must be. */
export function networkWords({ mode, allowPrivate }: NetworkPolicy): readonly string[] {
  const width = { none: ['network none'], allowlist: ['network by allowlist'], full: [] }[mode];
  return allowPrivate.length > 0 && mode !== 'none' ? [...width, `OPEN NEAR THIS HOST: ${allowPrivate.join(' ')}`] : width;
}
