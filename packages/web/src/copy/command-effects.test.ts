import { expect, it } from 'vitest';
import { commandEffects } from './command-effects.ts';

const PUSHED = 'Leaves this machine: the commits become visible to everyone who can read the repository.';
const PUBLISHED = 'Leaves this machine: what is published can be downloaded by others, and often cannot be taken back.';
const DELETED = 'Deleted files that are not in git are gone for good.';
const INSIDE = 'Runs in the sandbox. Can change files in this workspace.';

it.each([
  ['git push origin main && npm publish', 'Push the branch? Publish this?', `${PUSHED} ${PUBLISHED}`],
  ['cd app && rm -rf dist; git -C app push', 'Push the branch? Delete these files?', `${PUSHED} ${DELETED}`],
  ['CI=1 npm publish\ncurl https://a.example', 'Publish this?', `${PUBLISHED} Contacts a.example.`],
  ['curl -s https://API.example:8443/v1 | ssh deploy@b.example', 'Run this command?', 'Contacts api.example, b.example.'],
  ['wget -i "$LIST"', 'Run this command?', 'Contacts another machine.'],
  ['npm install left-pad', 'Install this?', INSIDE],
  ['git stash push', 'Run this command?', INSIDE],
  ['npm test', 'Run this command?', INSIDE],
])('CL1312: a decision names each effect of a command and what comes of it: %j', (command, question, consequence) => {
  expect(commandEffects(command)).toEqual({ question, consequence });
});
