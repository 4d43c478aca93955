/** An agent as a file describes it. What is stored with a conversation is this, as it was when the agent was chosen. */
export interface AgentFile {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  /** Of those that an agent is offered anyway; missing: all of them. */
  readonly tools?: readonly string[];
  /** Only of a file of the user's own: another model costs other money. */
  readonly model?: string;
  readonly read_only?: true;
}
