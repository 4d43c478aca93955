/** Only pictures that came with the event are shown: nothing is fetched from other hosts. */
export function isInlinePicture(url: string): boolean {
  return url.startsWith('data:image/');
}
