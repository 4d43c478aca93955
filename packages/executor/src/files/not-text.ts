/** It holds something that is not text; the message names what. */
export class NotText extends Error {
  override name = 'NotText';
}
