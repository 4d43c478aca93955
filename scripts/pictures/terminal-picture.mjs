// A recording of a terminal as an SVG that plays it.
const ESC = '\u001b';
const COLOUR = new RegExp(`${ESC}\\[(\\d*)m`, 'g');
const OTHER_CONTROL = new RegExp(`${ESC}\\[(?!\\d*m)[0-9;?]*[A-Za-z]`, 'g');
const REDRAWN = new RegExp(`\\r|${ESC}\\[2K`);
const COLUMNS = 92;
const LINE_PX = 19;
const CHAR_PX = 8.1;
const LONGEST_PAUSE_MS = 1500;
const COLOURS = { 2: '#8b949e', 31: '#ff7b72', 36: '#56d4dd' };

/**
 * An SVG that plays what a program printed: each line appears when its last character came, pauses cut to a second and a half.
 * `pieces`: `{atMs, text}` in order. Of a line that was drawn over, the last state is shown; colours are shown, other control sequences are not.
 */
export function terminalPicture(command, pieces) {
  const lines = [{ atMs: 0, text: `${ESC}[36m$${ESC}[0m ${command}` }, ...linesOf(pieces)];
  const height = 28 + lines.length * LINE_PX + 14;
  const width = Math.ceil(COLUMNS * CHAR_PX + 32);
  const texts = lines.map(({ atMs, text }, index) => {
    const y = 36 + index * LINE_PX;
    return `<text x="16" y="${y}" style="animation-delay:${(atMs / 1000).toFixed(2)}s">${coloured(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<style>
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre; opacity: 0; animation: show 0.01s linear forwards; }
@keyframes show { to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; opacity: 1; } }
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${texts.join('\n')}
</svg>
`;
}

function linesOf(pieces) {
  const lines = [];
  let open = '';
  let colour = '';
  let [clock, last] = [600, pieces[0]?.atMs ?? 0];
  for (const { atMs, text } of pieces) {
    clock += Math.min(atMs - last, LONGEST_PAUSE_MS);
    last = atMs;
    const parts = (open + text).split('\n');
    open = parts.pop();
    for (const part of parts) {
      const line = colour + lastState(part);
      lines.push({ atMs: clock, text: line });
      colour = line.match(COLOUR)?.at(-1) ?? '';
    }
  }
  while (lines.at(-1)?.text.trim() === '') lines.pop();
  return lines.flatMap(({ atMs, text }) => wrapped(text).map((row) => ({ atMs, text: row })));
}

/** What is left on the line after carriage returns and erasures. */
function lastState(line) {
  const shown = line.replace(/\r+$/, '').split(REDRAWN).at(-1);
  return shown.replace(OTHER_CONTROL, '');
}

function wrapped(text) {
  const colour = text.startsWith(ESC) ? text.match(COLOUR)[0] : '';
  const plain = text.replace(COLOUR, '');
  if (plain.length <= COLUMNS) return [text];
  const rows = [];
  for (let rest = plain; rest !== '';) {
    const space = rest.length > COLUMNS ? rest.lastIndexOf(' ', COLUMNS) : -1;
    const end = rest.length <= COLUMNS ? rest.length : space > 0 ? space : COLUMNS;
    rows.push(colour + rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rows;
}

function coloured(text) {
  const spans = text.split(COLOUR);
  return spans
    .map((part, index) => {
      if (index % 2 === 1 || part === '') return '';
      const colour = COLOURS[spans[index - 1]];
      const escaped = part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      return colour === undefined ? escaped : `<tspan fill="${colour}">${escaped}</tspan>`;
    })
    .join('');
}
