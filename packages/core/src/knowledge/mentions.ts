/** Of a trigger that is in a text very often: the places that are looked at. */
const MAX_PLACES = 256;

/** Part of a word, in scripts that set words apart. */
const IN_WORD = /[\p{L}\p{M}\p{N}_]/u;
const UNSPACED =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u;

/** A text as triggers are looked for in it: whatever its case, spacing and composition. */
export function searchable(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll(/\s+/g, ' ');
}

/** Whether the trigger is in the text as whole words; one that begins with `/` is a command, so only white space may stand before it. */
export function mentions(text: string, trigger: string): boolean {
  const wanted = searchable(trigger).trim();
  if (wanted === '') return false;
  let at = text.indexOf(wanted);
  for (let places = 0; at >= 0 && places < MAX_PLACES; places++) {
    if (standsAlone(text, wanted, at)) return true;
    at = text.indexOf(wanted, at + 1);
  }
  return false;
}

function standsAlone(text: string, wanted: string, at: number): boolean {
  const [before, after] = [lastCharacter(text.slice(Math.max(0, at - 2), at)), firstCharacter(text, at + wanted.length)];
  if (wanted.startsWith('/')) return !/\S/u.test(before) && !/[\p{L}\p{M}\p{N}_/-]/u.test(after);
  return !joins(before, firstCharacter(wanted, 0)) && !joins(lastCharacter(wanted), after);
}

/** Two neighbours that are in one word. */
function joins(left: string, right: string): boolean {
  return isInWord(left) && isInWord(right);
}

function isInWord(character: string): boolean {
  return IN_WORD.test(character) && !UNSPACED.test(character);
}

function firstCharacter(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? '' : String.fromCodePoint(point);
}

function lastCharacter(text: string): string {
  return [...text.slice(-2)].at(-1) ?? '';
}
