import '../styles/browser.css';
import { type Event, isAction, isObservation, type Observation } from '@tendon/protocol';
import { useMemo, useState } from 'react';
import { Well } from '../code/output.tsx';
import { isInlinePicture } from '../code/picture.ts';
import { useConversation } from '../conversation/open-conversation.ts';
import { clock } from '../copy/figures.ts';
import { hostName } from '../copy/shorten.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/placeholder.tsx';
import { EarlierEvents } from './earlier-events.tsx';
import { t } from '../lib/language/text.ts';

const MAX_PAGES = 200;

/** What the agent's browser showed: the newest page large, or an earlier one that was chosen. */
export function BrowserPanel({ eventId }: { readonly eventId: number | undefined }) {
  const { snapshot } = useConversation();
  const pages = useMemo(() => pagesOf(snapshot.events), [snapshot.events]);
  const [chosen, setChosen] = useState(eventId);
  const [hasMarks, setMarks] = useState(false);
  const shown = pages.find(({ id }) => id === chosen) ?? pages.at(-1);
  const opening = snapshot.state.pending.findLast((action) => action.action === 'browse');
  const wait =
    opening && isAction(opening) && opening.action === 'browse' ? t('Opening {{url}}', { url: hostName(opening.args.url) }) : undefined;
  if (!shown) {
    const none = snapshot.gaps.length > 0 ? t('No page in what is loaded') : t('No page opened yet');
    return (
      <>
        <EarlierEvents />
        <Empty title={wait ?? none} />
      </>
    );
  }
  const marks = isInlinePicture(shown.extras.set_of_marks) ? shown.extras.set_of_marks : undefined;
  return (
    <div className="browser">
      <div className="panel-bar">
        <span className="mono truncate" title={shown.extras.url}>
          {shown.extras.url}
        </span>
        <span className="flex-1" />
        <span role="status" className="text-small text-ink-3">
          {wait ?? clock(shown.timestamp)}
        </span>
        {marks && (
          <Button small aria-pressed={hasMarks} onClick={() => setMarks(!hasMarks)}>
            {t('Marks')}
          </Button>
        )}
      </div>
      <EarlierEvents />
      <Page page={shown} picture={(hasMarks && marks) || shown.extras.screenshot} />
      {pages.length > 1 && (
        <nav className="browser-strip scroll" aria-label={t('Pages')}>
          {pages.slice(-MAX_PAGES).map((page) => (
            <button
              key={page.id}
              type="button"
              aria-current={page.id === shown.id}
              aria-label={`${titleOf(page)}, ${clock(page.timestamp)}`}
              onClick={() => setChosen(page.id === pages.at(-1)?.id ? undefined : page.id)}
            >
              {isInlinePicture(page.extras.screenshot) ? (
                <img src={page.extras.screenshot} alt="" loading="lazy" decoding="async" />
              ) : (
                <span className="truncate">{titleOf(page)}</span>
              )}
            </button>
          ))}
        </nav>
      )}
    </div>
  );
}

function Page({ page, picture }: { readonly page: Observation<'browse'>; readonly picture: string }) {
  const { last_browser_action_error: error, status_code: status } = page.extras;
  return (
    <div className="browser-page scroll" tabIndex={0} role="group" aria-label={titleOf(page)}>
      <p>
        <b className="font-semibold">{titleOf(page)}</b>
        {status !== undefined && status >= 400 && <span className="tone-bad"> {status}</span>}
      </p>
      {error && <p className="text-bad">{error}</p>}
      {isInlinePicture(picture) && <img src={picture} alt={t('Screenshot of {{what}}', { what: titleOf(page) })} decoding="async" />}
      {page.content.trim() && <Well key={page.id} text={page.content} rows />}
    </div>
  );
}

function titleOf({ extras }: Observation<'browse'>): string {
  return extras.title || hostName(extras.url);
}

function pagesOf(events: readonly Event[]): readonly Observation<'browse'>[] {
  return events.filter((event): event is Observation<'browse'> => isObservation(event) && event.observation === 'browse');
}
