import { X } from 'lucide-react';
import { sizeWords } from '../copy/figures.ts';
import { Icon } from '../ui/icon.tsx';
import { t } from '../lib/language/text.ts';

export function AttachmentChips({
  attachments,
  onRemove,
}: {
  readonly attachments: readonly Attachment[];
  readonly onRemove: (id: string) => void;
}) {
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label={t('Attachments')}>
      {attachments.map((one) => (
        <li key={one.id} className="chip h-6">
          <span className="max-w-40 truncate">{one.name}</span>
          <span className="text-ink-3">{sizeWords(one.size)}</span>
          <button
            type="button"
            className="grid size-6 place-content-center"
            aria-label={t('Remove {{name}}', { name: one.name })}
            onClick={() => onRemove(one.id)}
          >
            <Icon of={X} small />
          </button>
        </li>
      ))}
    </ul>
  );
}

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
      problem = t('{{name}} is {{size}}; the limit is {{limit}}', { name: file.name, size: sizeWords(file.size), limit: sizeWords(limit) });
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

async function dataUrlOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return `data:${file.type};base64,${btoa(binary)}`;
}
