/** Tells the newest of what git says of its progress, as `Receiving objects: 45%`, each once. */
export function cloneProgress(onProgress: (words: string) => void): (chunk: string) => void {
  let rest = '';
  let last = '';
  return (chunk) => {
    const lines = (rest + chunk).split(/[\r\n]/);
    rest = (lines.pop() ?? '').slice(-500);
    const [words] = lines.flatMap((line) => /^(?:remote: )?([A-Z][a-z]+ [a-z]+: +\d+%)/.exec(line)?.[1] ?? []).slice(-1);
    if (words === undefined || words === last) return;
    last = words;
    onProgress(words);
  };
}

/** What git said at last, without its progress: what a person needs to know of a clone that failed. */
export function cloneFailure(output: string): string {
  const lines = output.split(/[\r\n]+/).map((line) => line.trim());
  const words = lines.filter((line) => line !== '' && !/\d+%|^Cloning into|^remote: (Enumerating|Counting|Compressing|Total)/.test(line));
  return words.slice(-4).join(' ').slice(0, 1000);
}
