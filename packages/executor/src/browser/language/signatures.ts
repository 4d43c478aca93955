/** What the arguments of each action are, by name and in order. A new action is a line here and one in `host/act.ts`. */
export const SIGNATURES = {
  goto: { url: 'text' },
  go_back: {},
  go_forward: {},
  noop: { wait_ms: 'number' },
  scroll: { delta_x: 'number', delta_y: 'number' },
  click: { bid: 'target', button: 'button', modifiers: 'modifiers' },
  dblclick: { bid: 'target', button: 'button', modifiers: 'modifiers' },
  hover: { bid: 'target' },
  fill: { bid: 'target', value: 'text', enable_autocomplete_menu: 'flag' },
  clear: { bid: 'target' },
  focus: { bid: 'target' },
  press: { bid: 'target', key_comb: 'text' },
  check: { bid: 'target' },
  uncheck: { bid: 'target' },
  select_option: { bid: 'target', options: 'texts' },
  drag_and_drop: { from_bid: 'target', to_bid: 'target' },
  upload_file: { bid: 'target', file: 'texts' },
  tab_new: {},
  tab_close: {},
  tab_focus: { index: 'number' },
  send_msg_to_user: { text: 'text' },
  report_infeasible: { reason: 'text' },
  mouse_move: { x: 'number', y: 'number' },
  mouse_down: { x: 'number', y: 'number', button: 'button' },
  mouse_up: { x: 'number', y: 'number', button: 'button' },
  mouse_click: { x: 'number', y: 'number', button: 'button' },
  mouse_dblclick: { x: 'number', y: 'number', button: 'button' },
  mouse_drag_and_drop: { from_x: 'number', from_y: 'number', to_x: 'number', to_y: 'number' },
  mouse_upload_file: { x: 'number', y: 'number', file: 'texts' },
  keyboard_press: { key: 'text' },
  keyboard_down: { key: 'text' },
  keyboard_up: { key: 'text' },
  keyboard_type: { text: 'text' },
  keyboard_insert_text: { text: 'text' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, keyof ArgumentKinds>>>>;

/** Of arguments that may be left out. */
export const DEFAULTS: Readonly<Record<string, unknown>> = {
  wait_ms: 1000,
  button: 'left',
  modifiers: [],
  enable_autocomplete_menu: false,
};

/** Other names that models and older texts use. */
export const ALIASES: Readonly<Record<string, ActionName>> = {
  new_tab: 'tab_new',
  type: 'fill',
  back: 'go_back',
  forward: 'go_forward',
  wait: 'noop',
};

/** An element: by the id that the observation gave it, or by CSS selector. */
export type Target = { readonly by: 'bid'; readonly bid: string } | { readonly by: 'css'; readonly selector: string };

export type MouseButton = 'left' | 'middle' | 'right';
export type Modifier = 'Alt' | 'Control' | 'ControlOrMeta' | 'Meta' | 'Shift';

export interface ArgumentKinds {
  readonly text: string;
  readonly texts: readonly string[];
  readonly number: number;
  readonly flag: boolean;
  readonly target: Target;
  readonly button: MouseButton;
  readonly modifiers: readonly Modifier[];
}

export type ActionName = keyof typeof SIGNATURES;
type Signature<N extends ActionName> = (typeof SIGNATURES)[N];
export type ArgumentsOf<N extends ActionName> = {
  readonly [P in keyof Signature<N>]: Signature<N>[P] extends keyof ArgumentKinds ? ArgumentKinds[Signature<N>[P]] : never;
};

/** A call whose arguments are complete and of the right kinds. */
export type BrowserCall = {
  readonly [N in ActionName]: { readonly name: N; readonly args: ArgumentsOf<N>; readonly line: number };
}[ActionName];
