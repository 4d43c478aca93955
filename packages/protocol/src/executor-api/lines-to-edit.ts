/** Counted from 1, inclusive; `end` −1 is the end of the file, `start` −1 the place after it. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

export type LinesToEdit =
  /** `version` names the file's content, so that the edit is made to no other. */
  | { readonly state: 'lines'; readonly text: string; readonly first: number; readonly last: number; readonly version: string }
  /** There is nothing to merge with: the draft is taken as it stands. */
  | { readonly state: 'none' }
  /** It cannot be edited so; `reason` is for the model. */
  | { readonly state: 'refused'; readonly reason: string };
