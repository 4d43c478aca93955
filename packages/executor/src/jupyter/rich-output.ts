/** What one output of a cell says to a model that reads text and may see images. */
export interface RichOutput {
  readonly text: string;
  /** A data URL. */
  readonly image?: string;
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** The way objects say that they are meant to be seen rather than read. */
const ONLY_A_NAME = /^<[\w.]*\.(HTML|Markdown|Latex|SVG|Image|JavaScript|Javascript|Video|Audio|IFrame) object>$/;

/** Reduces a MIME bundle of Jupyter to its most readable form. */
export function readRichOutput(data: unknown): RichOutput {
  const bundle = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  const plain = textOf(bundle['text/plain']);
  const image = IMAGES.find((type) => typeof bundle[type] === 'string');
  if (image !== undefined)
    return {
      text: plain === '' || ONLY_A_NAME.test(plain) ? '[An image.]' : plain,
      image: `data:${image};base64,${(bundle[image] as string).replaceAll(/\s/g, '')}`,
    };
  const markdown = textOf(bundle['text/markdown']);
  if (markdown !== '') return { text: markdown };
  if (plain !== '' && !ONLY_A_NAME.test(plain)) return { text: plain };
  const html = textOf(bundle['text/html']);
  const others = [textOf(bundle['text/latex']), json(bundle['application/json']), plain];
  return { text: html === '' ? (others.find((text) => text !== '') ?? '') : withoutTags(html) };
}

/** Notebooks may give a text as a list of lines. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join('');
  return typeof value === 'string' ? value : '';
}

function json(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: ' ' };
const MAX_HTML = 200_000;

function withoutTags(html: string): string {
  return html
    .slice(0, MAX_HTML)
    .replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, '')
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6])\b[^>]*>/gi, '\n')
    .replaceAll(/<\/t[dh]>/gi, '\t')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(lt|gt|amp|quot|#39|nbsp);/g, (_entity, name: string) => ENTITIES[name]!)
    .replaceAll(/[ \t]+\n/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
