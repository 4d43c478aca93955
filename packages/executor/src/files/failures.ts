import { basename } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { reasonOf } from '../action-handler.ts';
import { isTemporary } from './temporary-name.ts';

/** An edit that was not made, for a reason the model can act on. The file is as it was. */
export class EditFailure extends Error {
  override name = 'EditFailure';
}

/** It holds something that is not text; the message names what. */
export class NotText extends Error {
  override name = 'NotText';
}

/** More than is taken; the rest is not waited for. */
export class TooLong extends Error {
  override name = 'TooLong';

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/** What a failed action says about this file. */
export function failureText(error: unknown, path: string): string {
  if (error instanceof EditFailure) return error.message;
  if (error instanceof NotText) return `The file ${path} cannot be viewed or edited here: ${error.message}.`;
  return `The file ${path} could not be used: ${ofSystem(error) ?? reasonOf(error)}`;
}

/** Without the name of the file that was to take its place, which is gone. */
function ofSystem(error: unknown): string | undefined {
  const { code, errno, syscall, path } = error as NodeJS.ErrnoException;
  if (code === undefined || errno === undefined || syscall === undefined) return undefined;
  const words = `${getSystemErrorMessage(errno)} (${code})`;
  const isBeside = syscall === 'open' && path !== undefined && isTemporary(basename(path));
  return isBeside && code !== 'ENOSPC' ? `${words}. What is written is first put beside it, and nothing can be made in its folder.` : words;
}
