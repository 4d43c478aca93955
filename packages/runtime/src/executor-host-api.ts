/**
 * What a server and the program that keeps sandboxes for it on another host (`tendon executor`) say to each other, beside what an
 * executor itself answers below `/sandboxes/<incarnation>`. Every request carries the key as `X-Session-API-Key`.
 *
 *   GET    /server_info                     → HostInfo
 *   PUT    /sandboxes/<incarnation>         StartRequest → HostedSandbox; started, or found when it lives
 *   GET    /sandboxes/<incarnation>         → HostedSandbox
 *   DELETE /sandboxes/<incarnation>         → 204 when nothing of it is left; the private home stays
 *   GET    /sandboxes/<incarnation>/watch   → application/x-ndjson, open as long as it lives, then `{"ended": <why>}`
 *   DELETE /conversations/<id>?workspace=   → 204; its sandbox and private home, with `workspace=true` also its own workspace
 * Of a sandbox that is no more everything answers 410 with the reason.
 */
import type { Strength } from '@tendon/core';

/** Changes when either end would misunderstand the other. */
export const EXECUTOR_API = 1;

export interface HostInfo {
  readonly executor_api: number;
  readonly version: string;
  readonly sandbox: {
    readonly driver: string;
    readonly strength: Strength;
    readonly description: string;
    /** What is not limited or kept in, in words. */
    readonly limits: readonly string[];
  };
}

export interface StartRequest {
  readonly conversation_id: string;
  /** A folder of the workspace, relative; the sandbox sees it as its whole workspace. */
  readonly directory?: string;
  readonly lease_seconds: number;
  readonly no_output_timeout_seconds: number;
}

export interface HostedSandbox {
  readonly incarnation: string;
  readonly conversation_id: string;
  /** Where the workspace is for what runs inside. */
  readonly workspace: string;
}
