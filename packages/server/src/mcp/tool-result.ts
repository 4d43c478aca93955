/** What a tool gave back, as far as it is checked here: any JSON. */
type Block = Readonly<Record<string, unknown>>;

interface ToolResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

const MAX_CHARS = 1_000_000;
const MAX_PICTURES = 8;
/** Of base64: what models take. */
const MAX_PICTURE_CHARS = 5 * 1024 * 1024;
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

/** Its pictures as data URLs, those that a model can be shown; the others are only named in the text. */
export function resultPictures({ content }: ToolResult): string[] {
  const urls = blocksIn(content).flatMap((block) => {
    const { mimeType, data } = block;
    const isShown = block.type === 'image' && PICTURE.test(String(mimeType)) && isBase64(data);
    return isShown ? [`data:${String(mimeType)};base64,${String(data)}`] : [];
  });
  return urls.slice(0, MAX_PICTURES);
}

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data !== '' && data.length <= MAX_PICTURE_CHARS && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function blocksIn(content: unknown): readonly Block[] {
  return Array.isArray(content) ? content.filter((block): block is Block => typeof block === 'object' && block !== null) : [];
}

/** The text of a result; what is not text is named. */
export function resultText(result: ToolResult): string {
  const texts = blocksIn(result.content)
    .map(blockText)
    .filter((text) => text !== '');
  if (texts.length === 0 && result.structuredContent !== undefined) texts.push(JSON.stringify(result.structuredContent));
  const whole = texts.join('\n\n');
  const text = whole.length > MAX_CHARS ? `${whole.slice(0, MAX_CHARS)}\n[the rest of ${whole.length} characters was left out]` : whole;
  return result.isError === true ? `The tool failed: ${text || 'it did not say why.'}` : text;
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return String(block.text);
    case 'image':
    case 'audio':
      return `[${String(block.type)}, ${String(block.mimeType)}, ${Math.floor((String(block.data).length * 3) / 4)} bytes]`;
    case 'resource_link':
      return `[${String(block.name ?? 'resource')}: ${String(block.uri)}]`;
    case 'resource': {
      const { uri, text } = (block.resource ?? {}) as Block;
      return typeof text === 'string' ? text : `[${String(uri)}]`;
    }
    default:
      return '';
  }
}
