/** What became of a file that the sandbox could not give or take, as a status: it says so in words of the system. */
export function fileFailureStatus(cause: unknown): number {
  const words = wordsOf(cause);
  if (/^(ENOENT|ENOTDIR)\b/.test(words)) return 404;
  if (/^(EACCES|EPERM|EROFS)\b|is read-only in this sandbox/.test(words)) return 403;
  if (/is not a (?:regular )?file$|^EISDIR\b|NUL|^ENAMETOOLONG\b|^ELOOP\b/.test(words)) return 400;
  if (/^more than \d+ bytes/.test(words)) return 413;
  return 500;
}

export function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
