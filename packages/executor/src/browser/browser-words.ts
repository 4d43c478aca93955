/** What the tool says of the browser itself. */
export const started = 'Starting the browser …\n';

export function notStarted(reason: string): string {
  return `There is no browser: ${reason}`;
}

export function endedBefore(how: string): string {
  return `The browser had ended since the last action (${how}). A new one was started; its tabs are gone, its cookies are kept as far as it had saved them.`;
}

export function slept(seconds: number): string {
  return `The browser was closed after ${seconds} seconds without use, and was started again. Its tabs are gone but the one in use; cookies are kept.`;
}

export function endedMeanwhile(how: string): string {
  return `The browser ended while the action was carried out (${how}). What the action had done on the page by then may have taken effect; its tabs are gone. The next action starts a new browser.`;
}

export function killed(why: 'cancelled' | 'late'): string {
  const cause = why === 'cancelled' ? 'The action was cancelled, and the browser did not stop' : 'The browser did not answer in time';
  return `${cause}: it was ended. What the action had done on the page by then may have taken effect. The next action starts a new browser.`;
}

export function notParsed(error: string): string {
  return `Nothing was carried out: ${error}`;
}
