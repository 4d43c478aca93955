/** What this browser remembers, under `tendon.`. Storage may be forbidden or full: then nothing is remembered, and nothing breaks. */
export const stored = {
  get(name: string): string | null {
    try {
      return localStorage.getItem(`tendon.${name}`);
    } catch {
      return null;
    }
  },
  set(name: string, value: string | null): void {
    try {
      if (value === null) localStorage.removeItem(`tendon.${name}`);
      else localStorage.setItem(`tendon.${name}`, value);
    } catch {
      // The value holds for this page.
    }
  },
};
