/** Every kind this version knows. A new one is a definition in `events/` and a line here; the compiler lists what else must handle it. */
import * as agent from './events/agent.ts';
import * as browse from './events/browse.ts';
import * as checkpoint from './events/checkpoint.ts';
import * as command from './events/command.ts';
import * as file from './events/file.ts';
import * as message from './events/message.ts';
import * as system from './events/system.ts';

export const ACTIONS = {
  null: system.NullAction,
  initialize: system.InitializeAction,
  start: system.StartAction,
  pause: system.PauseAction,
  resume: system.ResumeAction,
  stop: system.StopAction,
  push: system.PushAction,
  send_pr: system.SendPrAction,
  call_tool_mcp: system.CallToolMcpAction,
  run: command.RunAction,
  kill: command.KillAction,
  run_ipython: command.RunIpythonAction,
  read: file.ReadAction,
  write: file.WriteAction,
  edit: file.EditAction,
  browse: browse.BrowseAction,
  browse_interactive: browse.BrowseInteractiveAction,
  restore_checkpoint: checkpoint.RestoreCheckpointAction,
  message: message.MessageAction,
  system: message.SystemAction,
  change_agent_state: agent.ChangeAgentStateAction,
  think: agent.ThinkAction,
  finish: agent.FinishAction,
  reject: agent.RejectAction,
  delegate: agent.DelegateAction,
  recall: agent.RecallAction,
  summarize: agent.SummarizeAction,
  condensation: agent.CondensationAction,
  condensation_request: agent.CondensationRequestAction,
  task_tracking: agent.TaskTrackingAction,
  loop_recovery: agent.LoopRecoveryAction,
  add_task: agent.AddTaskAction,
  modify_task: agent.ModifyTaskAction,
} as const;

export const OBSERVATIONS = {
  null: system.NullObservation,
  run: command.RunObservation,
  run_ipython: command.RunIpythonObservation,
  read: file.ReadObservation,
  write: file.WriteObservation,
  edit: file.EditObservation,
  download: file.DownloadObservation,
  browse: browse.BrowseObservation,
  restore_checkpoint: checkpoint.RestoreCheckpointObservation,
  chat: message.ChatObservation,
  message: message.MessageObservation,
  agent_state_changed: agent.AgentStateChangedObservation,
  think: agent.ThinkObservation,
  condense: agent.CondenseObservation,
  delegate: agent.DelegateObservation,
  recall: agent.RecallObservation,
  task_tracking: agent.TaskTrackingObservation,
  loop_detection: agent.LoopDetectionObservation,
  mcp: system.McpObservation,
  error: system.ErrorObservation,
  success: system.SuccessObservation,
  user_rejected: system.UserRejectedObservation,
} as const;
