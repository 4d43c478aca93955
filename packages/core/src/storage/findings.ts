const MAX_FINDINGS = 100;

/** What was found damaged or repaired, one sentence each, once each, bounded: a ruined disk must not fill the memory as well. */
export class Findings {
  readonly list: string[] = [];
  readonly #onFinding: (sentence: string) => void;

  constructor(onFinding: (sentence: string) => void = () => {}) {
    this.#onFinding = onFinding;
  }

  add(sentence: string): void {
    if (this.list.includes(sentence) || this.list.length > MAX_FINDINGS) return;
    const finding = this.list.length < MAX_FINDINGS ? sentence : 'more damage was found than is listed here';
    this.list.push(finding);
    this.#onFinding(finding);
  }
}
