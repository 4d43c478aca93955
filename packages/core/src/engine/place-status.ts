import type { VolatileFrame } from '@tendon/protocol';
import type { TurnListener } from './turn.ts';

/** Shows clients when a request begins and stops to wait for its turn at the endpoint. The conversation stays ready for messages. */
export function createPlaceStatus(emit: (frame: VolatileFrame) => void): Pick<TurnListener, 'onQueued' | 'onAdmitted'> {
  let waits = false;
  const show = (message: string): void => emit({ volatile: 'status', type: 'info', id: 'STATUS$READY', message });
  return {
    onQueued({ ahead, limit }) {
      waits = true;
      const before = ahead === 0 ? 'this one is next' : `${ahead} wait before this one`;
      show(`Waiting for the model: it is answering ${limit} other ${limit === 1 ? 'request' : 'requests'}, ${before}.`);
    },
    onAdmitted() {
      if (waits) show('');
      waits = false;
    },
  };
}
