/** Output as a terminal of its time wrote it: the terminals of frontends before 0.20 go to the next line, but not back to its start, at a bare `\n`. */
export function terminalLines(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

/** The same behind the command, where the frontend shows nothing else of what the agent ran. */
export function behindCommand(command: string, output: string): string {
  return command === '' ? output : `${terminalLines(command)}\r\n${output}`;
}
