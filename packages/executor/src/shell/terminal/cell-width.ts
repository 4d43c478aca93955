const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}|^[\u{20000}-\u{3fffd}]/u;
const JOINS = /^[\p{Mn}\p{Me}\u200b-\u200f\u2060]/u;

/**
 * How many cells of a terminal a character takes, as programs count them: 2 as Chinese ones and most emoji do, 0 where it belongs to
 * the one before it (accents, what joins emoji), else 1.
 */
export function cellWidth(character: string): 0 | 1 | 2 {
  if (character < '\u0300') return 1;
  if (JOINS.test(character)) return 0;
  return character > '\u10ff' && WIDE.test(character) ? 2 : 1;
}
