import { drawMarks } from './in-page/draw-marks.ts';
import type { PageSession } from './page-session.ts';
import type { Element, Elements } from './read-elements.ts';

export interface Pictures {
  /** `data:` URLs, or empty where none could be taken. */
  readonly screenshot: string;
  readonly setOfMarks: string;
  /** Ids of the elements that are marked. */
  readonly marked: ReadonlySet<string>;
}

const MAX_MARKS = 200;
const MIN_AREA = 20;
/** A picture that is larger as a PNG is taken as a JPEG. */
const MAX_PNG_CHARS = 2 * 1024 * 1024;

/** The page as it is seen, and the same with the ids of what can be used; that only with `elements`. */
export async function takePictures(
  session: PageSession,
  elements?: Elements,
  clickable: ReadonlySet<string> = new Set(),
): Promise<Pictures> {
  const { data } = await session.send('Page.captureScreenshot', { format: 'png' });
  const useful =
    elements === undefined ? [] : [...elements.byBid.values()].filter((element) => isUseful(element, clickable)).slice(0, MAX_MARKS);
  const marks = useful.map(({ bid, box }) => [bid, ...box] as const);
  // A page that refuses (its canvas is taken away) keeps its picture without marks.
  const drawn =
    elements === undefined
      ? ''
      : await session.run(drawMarks as (argument: object) => Promise<string>, { picture: data, marks }).catch(() => '');
  const small = data.length <= MAX_PNG_CHARS ? undefined : await session.send('Page.captureScreenshot', { format: 'jpeg', quality: 80 });
  return {
    screenshot: small === undefined ? dataUrl('png', data) : dataUrl('jpeg', small.data),
    setOfMarks: drawn === '' || drawn.length > MAX_PNG_CHARS ? '' : dataUrl('png', drawn),
    marked: new Set(useful.map(({ bid }) => bid)),
  };
}

function isUseful({ bid, box, visibility, isControl }: Element, clickable: ReadonlySet<string>): boolean {
  return visibility > 0 && box[2] * box[3] >= MIN_AREA && (isControl || clickable.has(bid));
}

function dataUrl(type: string, base64: string): string {
  return `data:image/${type};base64,${base64}`;
}
