const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}|^[\u{20000}-\u{3fffd}]/u;

/** Whether a character takes two cells of a terminal, as Chinese ones and most emoji do. */
export function isWide(character: string): boolean {
  return character > '\u10ff' && WIDE.test(character);
}
