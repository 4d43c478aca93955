import { Prose } from './prose.tsx';

/** Text that is still streaming: finished blocks stay as they are, so each new piece lays out only the last one. */
export function StreamingProse({ text }: { readonly text: string }) {
  const blocks = closedBlocks(text);
  return (
    <div className="streaming">
      {blocks.map((block, index) => (
        <Prose key={index} text={block} />
      ))}
    </div>
  );
}

/**
 * Split at empty lines, but never inside a fenced block.
 * @internal
 */
export function closedBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let current = '';
  let isFenced = false;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    if (line.trim() === '' && !isFenced) {
      if (current.trim()) blocks.push(current);
      current = '';
    } else current += `${line}\n`;
  }
  if (current.trim()) blocks.push(current);
  return blocks;
}
