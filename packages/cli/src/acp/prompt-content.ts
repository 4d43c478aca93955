import { RequestError, type ContentBlock } from '@agentclientprotocol/sdk';

/** The same limits as for `--image` of a chat: a server closes the connection on a larger message. */
const MAX_IMAGE_CHARS = 4_000_000;
const MAX_IMAGES_CHARS = 18_600_000;

export interface PromptContent {
  readonly text: string;
  /** `data:` URLs. */
  readonly imageUrls: readonly string[];
}

/** What a prompt says, as a message. Throws for what the agent cannot be given: nothing of it is left out in silence. */
export function promptContent(blocks: readonly ContentBlock[]): PromptContent {
  const parts = blocks.map(textOf);
  const imageUrls = blocks.flatMap((block) => (block.type === 'image' ? [`data:${block.mimeType};base64,${block.data}`] : []));
  const sizes = blocks.flatMap((block) => (block.type === 'image' ? [block.data.length] : []));
  if (sizes.some((size) => size > MAX_IMAGE_CHARS)) throw refused('a picture is larger than 3 MB: make it smaller');
  if (sizes.reduce((sum, size) => sum + size, 0) > MAX_IMAGES_CHARS)
    throw refused('the pictures are larger than 14 MB together: send fewer');
  const text = parts.filter(Boolean).join('\n\n');
  if (text.trim() === '' && imageUrls.length === 0) throw refused('it is empty: text or a picture is expected');
  return { text, imageUrls };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return '';
    case 'resource_link':
      return block.uri;
    case 'resource':
      return 'text' in block.resource ? `${block.resource.uri}:\n${block.resource.text}` : block.resource.uri;
    default:
      throw refused(
        `the kind ${String((block as { readonly type: unknown }).type)} is not taken; text, image, resource_link and resource are`,
      );
  }
}

function refused(why: string): RequestError {
  return RequestError.invalidParams(undefined, `prompt: ${why}`);
}
