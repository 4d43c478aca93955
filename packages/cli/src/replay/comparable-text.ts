const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';

/** What differs from run to run and says nothing: in this order, the longer forms first. */
const PASSING: readonly (readonly [pattern: RegExp, stands: string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z\b|UTC\b|[+-]\d\d:?\d\d))?/g, '<time>'],
  [new RegExp(`\\b(?:${DAY},? )?${MONTH} +\\d{1,2} +(?:\\d\\d:\\d\\d(?::\\d\\d)?(?: [A-Z]{3,4})?(?: \\d{4})?|\\d{4}\\b)`, 'g'), '<time>'],
  [new RegExp(`\\b(?:${DAY},? )?\\d{1,2} ${MONTH} \\d{4}(?: \\d\\d:\\d\\d(?::\\d\\d)?(?: [A-Z]{3,4}| [+-]\\d{4})?)?`, 'g'), '<time>'],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, '<time>'],
  [/\b(?:\d+m)?\d+\.\d+ ?(?:s|secs?|seconds?)\b|\b\d+(?:\.\d+)? ?(?:ms|µs|ns)\b/g, '<duration>'],
  [/^\[(\d+)\](\+?) \d+$/gm, '[$1]$2 <pid>'],
  [/\b(pid|process)([ =:#]+)\d+\b/gi, '$1$2<pid>'],
  [/\/tmp\/(?:tmp[.\w]{6,}|[\w.-]*[._-](?=[A-Za-z0-9]*[A-Z0-9])[A-Za-z0-9]{6,12})(?![\w.-])/g, '/tmp/<name>'],
];

/** The text without what is never the same twice: times, durations, process ids, made-up names below /tmp, and where the workspace is. */
export function comparableText(text: string, workspace: string): string {
  const placed = text.replaceAll('\r\n', '\n').replaceAll(workspace, '<workspace>').replaceAll('/workspace', '<workspace>');
  return PASSING.reduce((left, [pattern, stands]) => left.replace(pattern, stands), placed).trimEnd();
}
