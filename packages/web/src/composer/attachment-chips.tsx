import { X } from 'lucide-react';
import { Icon } from '../ui/icon.tsx';
import { sizeWords, type Attachment } from './attachment.ts';

export function AttachmentChips({
  attachments,
  onRemove,
}: {
  readonly attachments: readonly Attachment[];
  readonly onRemove: (id: string) => void;
}) {
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attachments">
      {attachments.map((one) => (
        <li key={one.id} className="chip h-6">
          <span className="max-w-40 truncate">{one.name}</span>
          <span className="text-ink-3">{sizeWords(one.size)}</span>
          <button
            type="button"
            className="grid size-6 place-content-center"
            aria-label={`Remove ${one.name}`}
            onClick={() => onRemove(one.id)}
          >
            <Icon of={X} small />
          </button>
        </li>
      ))}
    </ul>
  );
}
