import { openhandsV0, type Event, type Frame } from '@tendon/protocol';

/** As the replay shows it, with what the replay leaves out. `null` kinds are not shown. */
export function storedFrame(event: Event): readonly Frame[] {
  const replayed = openhandsV0.encode(event, 'replay');
  return replayed.length > 0 ? replayed : openhandsV0.encode(event, 'live');
}
