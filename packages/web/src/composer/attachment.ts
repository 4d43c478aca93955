export interface Attachment {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly file: File;
  /** Of images: what goes into the message. */
  readonly dataUrl?: string;
}

const MAX_IMAGE_BYTES = 3_000_000;
const MAX_FILE_BYTES = 100_000_000;

/** Files as attachments; `problem` names what was left out and why. */
export async function readAttachments(
  files: readonly File[],
): Promise<{ readonly attachments: readonly Attachment[]; readonly problem: string }> {
  const attachments: Attachment[] = [];
  let problem = '';
  for (const file of files) {
    const isImage = file.type.startsWith('image/');
    const limit = isImage ? MAX_IMAGE_BYTES : MAX_FILE_BYTES;
    if (file.size > limit) {
      problem = `${file.name} is ${sizeWords(file.size)}; the limit is ${sizeWords(limit)}`;
      continue;
    }
    attachments.push({
      id: crypto.randomUUID(),
      name: file.name || 'image.png',
      size: file.size,
      file,
      ...(isImage && { dataUrl: await dataUrlOf(file) }),
    });
  }
  return { attachments, problem };
}

export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read'));
    reader.readAsDataURL(file);
  });
}
