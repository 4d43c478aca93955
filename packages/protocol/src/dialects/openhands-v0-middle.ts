import { isUnknown } from '../event.ts';
import { withPictures } from './cell-pictures.ts';
import type { Dialect, Frame } from './dialect.ts';
import { openhandsV0 } from './openhands-v0.ts';

/** Pages of OpenHands 0.33 … 0.39: they look for the pictures of a cell in its content, and do not know `image_urls`. */
export const openhandsV0Middle: Dialect = {
  ...openhandsV0,
  encode(event, phase) {
    const frames = openhandsV0.encode(event, phase);
    return isUnknown(event) || !('observation' in event) || event.observation !== 'run_ipython' ? frames : frames.map(picturesInside);
  },
};

function picturesInside(frame: Frame): Frame {
  const extras = frame.extras as Frame;
  const content = withPictures(String(frame.content), extras.image_urls as readonly string[] | null);
  return content === frame.content ? frame : { ...frame, content, extras: { ...extras, image_urls: null } };
}
