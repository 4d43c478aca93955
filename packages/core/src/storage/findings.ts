const MAX_FINDINGS = 100;

/** What was found damaged or repaired, one sentence each, bounded: a ruined disk must not fill the memory as well. */
export class Findings {
  readonly list: string[] = [];

  add(sentence: string): void {
    if (this.list.length < MAX_FINDINGS) this.list.push(sentence);
    else this.list[MAX_FINDINGS - 1] = 'more damage was found than is listed here';
  }
}
