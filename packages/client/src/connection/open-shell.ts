export interface ShellSize {
  readonly columns: number;
  readonly rows: number;
}

/** A shell of one's own in a conversation's sandbox, beside the agent's. */
export interface OwnShell {
  /** As if at the keyboard. Without a connection it is lost. */
  type(text: string): void;
  resize(size: ShellSize): void;
  close(): void;
}

/** The agent's own shell, which waits meanwhile. `close` leaves it, and the person may come back for some seconds. */
export interface AgentShell extends OwnShell {
  giveBack(): void;
}

export interface ShellOptions {
  readonly size: ShellSize;
  readonly onOutput: (text: string) => void;
  /** Once, and nothing after it: with the exit code, or why there is none. Not after `close`. */
  readonly onEnd: (end: { readonly code: number | null; readonly reason?: string }) => void;
}

/** What `createRest` answers is one. */
interface ShellServer {
  readonly baseUrl: string;
  readonly apiKey: () => string | undefined;
}

/** It ends with the connection, and when nobody types for half an hour. */
export function openShell(server: ShellServer, conversationId: string, options: ShellOptions): OwnShell {
  return open(server, conversationId, options);
}

/** Takes the agent's own shell over: the agent begins nothing more until it is given back, and reads then what the terminal showed. */
export function takeShellOver(server: ShellServer, conversationId: string, options: ShellOptions): AgentShell {
  return open(server, conversationId, options, { take_over: 'true' });
}

function open(
  { baseUrl, apiKey }: ShellServer,
  conversationId: string,
  options: ShellOptions,
  more: Readonly<Record<string, string>> = {},
): AgentShell {
  const { size, onOutput, onEnd } = options;
  const key = apiKey();
  const query = new URLSearchParams({
    conversation_id: conversationId,
    columns: String(size.columns),
    rows: String(size.rows),
    ...more,
    ...(key && { session_api_key: key }),
  });
  const socket = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/shell?${query}`);
  let isOver = false;
  const end: ShellOptions['onEnd'] = (how) => {
    if (isOver) return;
    isOver = true;
    onEnd(how);
    socket.close();
  };
  socket.addEventListener('message', ({ data }) => {
    const { output, ended } = frameOf(data);
    if (isOver) return;
    if (output !== undefined) onOutput(output);
    if (ended) end(ended);
  });
  socket.addEventListener('close', () => end({ code: null, reason: 'the connection to the server ended' }));
  const send = (frame: object): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  };
  return {
    type: (input) => {
      for (let at = 0; at < input.length; at += PIECE) send({ input: input.slice(at, at + PIECE) });
    },
    resize: (to) => send(to),
    giveBack: () => send({ give_back: true }),
    close() {
      isOver = true;
      socket.close();
    },
  };
}

/** Characters that the server takes in one frame. */
const PIECE = 32 * 1024;

interface ShellFrame {
  readonly output?: string;
  readonly ended?: { readonly code: number | null; readonly reason?: string };
}

function frameOf(data: unknown): ShellFrame {
  try {
    return JSON.parse(String(data)) as ShellFrame;
  } catch {
    return {};
  }
}
