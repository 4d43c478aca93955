import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { clock } from '../../copy/figures.ts';
import { tendon } from '../../lib/server.ts';
import { t } from '../../lib/language/text.ts';

interface BasePickerProps {
  readonly value: string;
  readonly branches: readonly string[];
  readonly onChange: (against: string) => void;
}

const MAX_CHECKPOINTS = 30;

/** What the files are compared with. */
export function BasePicker({ value, branches, onChange }: BasePickerProps) {
  const { id } = useConversationActs();
  const [isOpened, setOpened] = useState(false);
  const { data } = useQuery({
    queryKey: ['checkpoints', id, 'picker'],
    queryFn: () => tendon.conversations.checkpoints(id),
    enabled: isOpened,
    retry: false,
  });
  const checkpoints = data?.checkpoints.slice(0, MAX_CHECKPOINTS) ?? [];
  const isListed =
    ['start', 'turn', 'published'].includes(value) ||
    branches.some((name) => `branch:${name}` === value) ||
    checkpoints.some(({ number }) => `checkpoint:${number}` === value);
  return (
    <label className="against">
      <span className="text-ink-3">{t('against')}</span>
      <select
        className="field"
        aria-label={t('Compare with')}
        value={value}
        onFocus={() => setOpened(true)}
        onPointerDown={() => setOpened(true)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {!isListed && <option value={value}>{value.replace(':', ' ')}</option>}
        <option value="start">{t('the start')}</option>
        <option value="turn">{t('your last message')}</option>
        <option value="published">{t('the last commit or push')}</option>
        {branches.length > 0 && (
          <optgroup label={t('Branches')}>
            {branches.map((name) => (
              <option key={name} value={`branch:${name}`}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
        {checkpoints.length > 0 && (
          <optgroup label={t('Checkpoints')}>
            {checkpoints.map(({ number, made_at: at, files }) => (
              <option key={number} value={`checkpoint:${number}`}>
                {t('{{time}}, checkpoint {{number}}, {{count}} files', { time: clock(at), number, count: files })}
              </option>
            ))}
          </optgroup>
        )}
      </select>
    </label>
  );
}
