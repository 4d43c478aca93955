/** How long an executor host waits for a client that stops in the middle. */
export interface HostPatience {
  readonly headersMs: number;
  /** For a whole request: as long as the largest file may take. */
  readonly requestMs: number;
  /** Without a byte in the middle of a request, or of reading its answer. */
  readonly stillMs: number;
  /** How often it looks. */
  readonly checkMs: number;
}

export const HOST_PATIENCE: HostPatience = { headersMs: 20_000, requestMs: 30 * 60_000, stillMs: 60_000, checkMs: 15_000 };
