const MAX_LENGTH = 60;

/** What a conversation is called until somebody says what it is about. */
export function defaultTitle(conversationId: string): string {
  return `Conversation ${conversationId.slice(0, 5)}`;
}

/** The first words of the task on one line, cut at a word; `undefined` when there are none. */
export function titleFromTask(task: string): string | undefined {
  const line = task
    .slice(0, 1000)
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  if (line.length <= MAX_LENGTH) return line;
  const cut = line.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  const lastSpace = cut.lastIndexOf(' ');
  return `${lastSpace > MAX_LENGTH / 2 ? cut.slice(0, lastSpace) : cut}…`;
}
