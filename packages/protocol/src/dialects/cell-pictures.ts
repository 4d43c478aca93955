/** The placeholder in a cell's output for a picture that has no text of its own. */
const PLACE = '[An image.]';
const PNG = /^data:image\/png;base64,[\w+/=]+$/;
/** The limit for one cell. Further pictures stay placeholders. */
const MAX_CHARS = 4 * 1024 * 1024;

/**
 * A cell's output with its pictures as Markdown, each on a line of its own, which is how frontends before 0.40 find them: in their places
 * first, the rest at the end. Those frontends look for PNG alone.
 */
export function withPictures(content: string, urls: readonly string[] | null): string {
  let chars = 0;
  const pictures = (urls ?? []).filter((url) => PNG.test(url) && (chars += url.length) <= MAX_CHARS).map((url) => `![image](${url})`);
  if (pictures.length === 0) return content;
  const rest = [...pictures];
  const lines = content.split('\n').map((line) => (line === PLACE && rest.length > 0 ? rest.shift()! : line));
  if (rest.length > 0 && lines.at(-1) === '') lines.pop();
  return [...lines, ...rest].join('\n');
}

/** Output as a terminal of its time wrote it: the terminals of frontends before 0.20 go to the next line, but not back to its start, at a bare `\n`. */
export function terminalLines(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

/** The same after the command, for frontends that do not show the agent's command otherwise. */
export function behindCommand(command: string, output: string): string {
  return command === '' ? output : `${terminalLines(command)}\r\n${output}`;
}
