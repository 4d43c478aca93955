/** What one check found. `says` is plain words; of a failure it holds what to do. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  /** Worth knowing, and no reason to fail. */
  readonly isNote?: boolean;
}
