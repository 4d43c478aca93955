/**
 * How an executor asks its host for `ipykernel`: through its proxy socket, `POST http://kernel.tendon.internal/<tag>`, answered by
 * application/x-ndjson of PackagesLine, the last one without `output`. What it gets appears below the folder that it sees.
 */
export const KERNEL_PACKAGES_NAME = 'kernel.tendon.internal';

export type PackagesLine =
  | { readonly output: string }
  /** It is there now. */
  | { readonly ready: true }
  | { readonly ready: false; readonly reason: string };
