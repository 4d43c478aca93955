/** More than is taken; the rest is not waited for. */
export class TooLong extends Error {
  override name = 'TooLong';

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}
