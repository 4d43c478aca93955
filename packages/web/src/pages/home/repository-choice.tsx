import { ChevronDown, FolderGit2 } from 'lucide-react';
import { Suspense } from 'react';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Popup } from '../../ui/popup.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

export interface ChosenRepository {
  /** `owner/name`. */
  readonly name: string;
  readonly provider?: string;
  /** Empty: the usual one. */
  readonly branch: string;
}

/** Its lists are asked for only when they are looked at. */
const RepositoryPicker = lazyPart(async () => ({ default: (await import('./repository-picker.tsx')).RepositoryPicker }));

interface RepositoryChoiceProps {
  readonly chosen: ChosenRepository | undefined;
  readonly onChoose: (chosen: ChosenRepository | undefined) => void;
}

/** The repository that a task begins with, cloned for it; none: the folder. */
export function RepositoryChoice({ chosen, onChoose }: RepositoryChoiceProps) {
  const shown = chosen ? `${chosen.name}${chosen.branch && `, ${chosen.branch}`}` : t('No repository');
  return (
    <Popup
      label={t('Repository')}
      button={(popup) => (
        <Button look="quiet" aria-label={`${t('Repository')}: ${shown}`} {...popup}>
          <Icon of={FolderGit2} small />
          <span className="max-w-60 truncate">{shown}</span>
          <Icon of={ChevronDown} small />
        </Button>
      )}
    >
      {(close) => (
        <Suspense fallback={<Late>{t('Loading repositories')}</Late>}>
          <RepositoryPicker
            chosen={chosen}
            onChoose={(next) => {
              onChoose(next);
              close();
            }}
          />
        </Suspense>
      )}
    </Popup>
  );
}
