import { reasonOf } from '../observation.ts';
import { EditFailure } from './edit-failure.ts';
import { NotText } from './not-text.ts';

/** What a failed action says about this file. */
export function failureText(error: unknown, path: string): string {
  if (error instanceof EditFailure) return error.message;
  if (error instanceof NotText) return `The file ${path} cannot be viewed or edited here: ${error.message}.`;
  return `The file ${path} could not be used: ${reasonOf(error)}`;
}
