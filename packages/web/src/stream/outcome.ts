import type { StepItem } from './stream-item.ts';

/** Whether the step ended badly: an error, a failing command, a page that did not open. */
export function isFailure({ observation }: StepItem): boolean {
  switch (observation?.observation) {
    case 'error':
      return true;
    case 'agent_state_changed':
      return observation.extras.agent_state === 'error';
    case 'run':
      return observation.extras.metadata.exit_code > 0;
    case 'run_ipython':
      return observation.success === false;
    case 'browse':
      return observation.extras.error;
    default:
      return false;
  }
}

export function isPending({ action, observation }: StepItem): boolean {
  return action !== undefined && observation === undefined;
}
