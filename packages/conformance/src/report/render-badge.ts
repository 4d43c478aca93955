import type { Conformance } from '../result.ts';

/** An SVG of one line, "conformance 120 of 120". */
export function renderBadge({ results }: Conformance): string {
  const passed = results.filter(({ verdict }) => verdict === 'passed' || verdict === 'surprises').length;
  const asked = results.filter(({ verdict }) => verdict !== 'absent').length;
  const text = `${passed} of ${asked}`;
  const [left, right] = [88, 16 + text.length * 7];
  const colour = passed === asked ? '#2e7d32' : '#a15c00';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="conformance: ${text}">
<rect width="${left + right}" height="20" rx="3" fill="#444"/><rect x="${left}" width="${right}" height="20" rx="3" fill="${colour}"/>
<g fill="#fff" font-family="sans-serif" font-size="12"><text x="8" y="14">conformance</text><text x="${left + 8}" y="14">${text}</text></g>
</svg>
`;
}
