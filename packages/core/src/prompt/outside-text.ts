/**
 * Text that neither the user nor the workspace wrote, marked for the model as what it is. It cannot end its own mark. The system prompt
 * says what the mark means.
 */
export function outsideText(source: string, text: string): string {
  return `<outside_text source="${source.replaceAll(/[^\w .:/-]/g, '_').slice(0, 100)}">\n${text.replaceAll(MARK, '<$1outside-text')}\n</outside_text>`;
}

const MARK = /<(\s*\/?\s*)outside_text/gi;
