import type { ObservationDraft } from '@tendon/protocol';

export interface BrowsePart {
  /** `browse` or `browse_interactive`. */
  readonly trigger: string;
  /** The action as it was given. */
  readonly action: string;
  readonly content: string;
  readonly url: string;
  /** What went wrong with the action, or nothing. */
  readonly error: string;
  readonly extras?: Partial<ObservationDraft<'browse'>['extras']>;
}

/** The observation of either kind of browsing, with every field that clients know. */
export function browseObservation({ trigger, action, content, url, error, extras }: BrowsePart): ObservationDraft<'browse'> {
  return {
    observation: 'browse',
    content:
      error === '' || content.includes(error) ? content : `Error of the last action: ${error}${content === '' ? '' : `\n\n${content}`}`,
    extras: {
      url,
      trigger_by_action: trigger,
      screenshot: '',
      screenshot_path: null,
      set_of_marks: '',
      error: error !== '',
      goal_image_urls: [],
      open_pages_urls: [],
      active_page_index: -1,
      dom_object: {},
      axtree_object: {},
      extra_element_properties: {},
      last_browser_action: action,
      last_browser_action_error: error,
      focused_element_bid: '',
      filter_visible_only: false,
      ...extras,
    },
  };
}
