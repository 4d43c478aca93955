const MAX_PATH = 4096;
const MAX_NAME = 255;

/** Why a file of this name is not taken; `undefined` when it may be written below the workspace. */
export function uploadNameFault(name: string): string | undefined {
  if (name === '') return 'The file has no name';
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(name)) return 'The name has characters that are not allowed';
  if (Buffer.byteLength(name) > MAX_PATH) return 'The name is too long';
  for (const part of name.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'The name leads out of the workspace';
    if (Buffer.byteLength(part) > MAX_NAME) return 'The name is too long';
  }
  return undefined;
}
