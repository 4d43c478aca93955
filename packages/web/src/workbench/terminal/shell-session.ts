import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { type AgentShell, openShell, type OwnShell, takeShellOver } from '@tendon/client';
import { tendon } from '../../lib/server.ts';
import { setTaken, takenTerminal } from './taken-terminal.ts';
import { terminalTheme } from './terminal-theme.ts';
import { t } from '../../lib/language/text.ts';

/** One shell of the person's, and the terminal that shows it. Another tab takes it off the screen, and does not end it. */
export interface ShellSession {
  /** Puts it on the screen; the function takes it off. */
  readonly attach: (place: HTMLElement) => () => void;
  /** Why it is over; nothing while it is not. */
  readonly ended: () => string | undefined;
  readonly subscribe: (listener: () => void) => () => void;
  readonly close: () => void;
}

const SCROLLBACK = 5_000;

let agents: ShellSession | undefined;
let current: { readonly id: string; readonly session: ShellSession } | undefined;

/** The one of this conversation; that of another one ends. */
export function shellSession(id: string): ShellSession {
  if (current?.id !== id) {
    current?.session.close();
    const open: Open = (options) => openShell(tendon, id, options);
    current = { id, session: startSession(t('Your shell. F6 leaves it.'), open) };
  }
  return current.session;
}

export function newShellSession(id: string): ShellSession {
  current?.session.close();
  current = undefined;
  return shellSession(id);
}

/** The agent's, which this page takes over now or has; nothing where it gave it back meanwhile. */
export function agentSession(id: string): ShellSession | undefined {
  const taken = takenTerminal(id);
  if (!taken || taken.ended !== undefined) return undefined;
  if (taken.session) return agents;
  let shell: AgentShell | undefined;
  agents = startSession(t('The agent’s terminal. F6 leaves it.'), (options) => {
    shell = takeShellOver(tendon, id, options);
    return shell;
  });
  const { subscribe, ended, close } = agents;
  subscribe(() => {
    close();
    setTaken({ id, ended: ended()! });
  });
  setTaken({ id, session: { giveBack: () => shell?.giveBack(), close } });
  return agents;
}

type Open = (options: Parameters<typeof openShell>[2]) => OwnShell;

function startSession(label: string, open: Open): ShellSession {
  const { element, terminal } = createTerminal();
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.attachCustomKeyEventHandler((event) => isForTerminal(event, terminal));
  const listeners = new Set<() => void>();
  let ended: string | undefined;
  let shell: OwnShell | undefined;
  const begin = () => {
    terminal.open(element);
    terminal.textarea?.setAttribute('aria-label', label);
    fit.fit();
    shell = open({
      size: { columns: terminal.cols, rows: terminal.rows },
      onOutput: (text) => terminal.write(text),
      onEnd: ({ code, reason }) => {
        ended = code === null ? (reason ?? t('the connection ended')) : t('exit {{code}}', { code });
        terminal.options.disableStdin = true;
        for (const listener of listeners) listener();
      },
    });
    terminal.onData((text) => shell?.type(text));
    terminal.onResize(({ cols, rows }) => shell?.resize({ columns: cols, rows }));
  };
  const repaint = new MutationObserver(() => (terminal.options.theme = terminalTheme()));
  repaint.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return {
    attach(place) {
      place.append(element);
      if (shell) fit.fit();
      else begin();
      terminal.focus();
      const watch = new ResizeObserver(() => fit.fit());
      watch.observe(place);
      return () => {
        watch.disconnect();
        element.remove();
      };
    },
    ended: () => ended,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      repaint.disconnect();
      shell?.close();
      terminal.dispose();
    },
  };
}

function createTerminal(): { readonly element: HTMLElement; readonly terminal: Terminal } {
  const element = document.createElement('div');
  element.className = 'own-terminal';
  const font = getComputedStyle(document.documentElement);
  const terminal = new Terminal({
    fontFamily: font.getPropertyValue('--font-mono'),
    fontSize: 12,
    lineHeight: 1.25,
    scrollback: SCROLLBACK,
    theme: terminalTheme(),
    convertEol: true,
  });
  // The agent's terminal sends line ends as they are written; a program that has the screen means them so.
  terminal.buffer.onBufferChange(({ type }) => (terminal.options.convertEol = type === 'normal'));
  return { element, terminal };
}

/** F6 leaves, as everywhere; copying and pasting are the browser's with ⇧. */
function isForTerminal(event: KeyboardEvent, terminal: Terminal): boolean {
  if (event.key === 'F6') return false;
  const isShifted = event.ctrlKey && event.shiftKey;
  if (isShifted && event.key === 'V') return false;
  if (!isShifted || event.key !== 'C') return true;
  event.preventDefault();
  if (event.type === 'keydown' && terminal.hasSelection()) void navigator.clipboard.writeText(terminal.getSelection());
  return false;
}
