/** Output as a terminal of its time wrote it: the terminals of frontends before 0.20 go to the next line, but not back to its start, at a bare `\n`. */
export function terminalLines(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

/** The same after the command, for frontends that do not show the agent's command otherwise. */
export function behindCommand(command: string, output: string): string {
  return command === '' ? output : `${terminalLines(command)}\r\n${output}`;
}
