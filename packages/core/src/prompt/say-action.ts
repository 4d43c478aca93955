import { messageOf, type Action, type ActionKind } from '@tendon/protocol';
import { NOTHING, type Saying } from './entry.ts';

/** What each kind of action says to the model. A new kind does not compile before it stands here. */
const SAYINGS = {
  null: nothing,
  initialize: nothing,
  start: (action) => ({ says: 'user', text: action.args.task, pinned: true }),
  pause: nothing,
  resume: nothing,
  stop: nothing,
  push: byTool,
  send_pr: byTool,
  call_tool_mcp: byTool,
  run: byTool,
  kill: byTool,
  run_ipython: byTool,
  read: byTool,
  write: byTool,
  edit: byTool,
  browse: byTool,
  browse_interactive: byTool,
  message: (action) => (action.source === 'user' ? fromUser(action) : { says: 'assistant', text: action.args.content }),
  system: (action) => ({ says: 'system', text: action.args.content }),
  change_agent_state: nothing,
  think: byTool,
  finish: (action) => ending(action, 'The task was reported as finished.', action.args.final_thought || action.args.thought),
  reject: (action) => ending(action, 'The task was reported as rejected.', action.args.thought),
  delegate: byTool,
  recall: nothing,
  summarize: (action) => ({ says: 'user', text: `[Summary] ${action.args.summary}` }),
  condensation: nothing,
  condensation_request: nothing,
  task_tracking: byTool,
  loop_recovery: nothing,
  add_task: byTool,
  modify_task: byTool,
} as const satisfies { readonly [K in ActionKind]: (action: Action<K>) => Saying };

export function sayAction(action: Action): Saying {
  return (SAYINGS[action.action] as (action: Action) => Saying)(action);
}

function nothing(): Saying {
  return NOTHING;
}

/** The person's own actions are shown with their result. An agent's action without a call comes from another kind of agent. */
function byTool(action: Action): Saying {
  if (action.source !== 'agent') return NOTHING;
  return action.tool_call_metadata ? { says: 'call' } : { says: 'assistant', text: messageOf(action) };
}

function ending(action: Action, result: string, words: string): Saying {
  if (action.source !== 'agent') return NOTHING;
  return action.tool_call_metadata ? { says: 'call', result } : { says: 'assistant', text: words || messageOf(action) };
}

function fromUser({ args }: Action<'message'>): Saying {
  const files = args.file_urls?.length ? `\n\nFiles that came with this message:\n${args.file_urls.join('\n')}` : '';
  return { says: 'user', text: args.content + files, pinned: true, ...(args.image_urls?.length && { imageUrls: args.image_urls }) };
}
