/** What both ends of the executor's API need of Node: streams, upgrades, folders. Nothing here runs in a browser. */
export { findOnPath, isExecutable } from './find-on-path.ts';
export { joinStreams } from './join-streams.ts';
export { letGoOfStill } from './let-go-of-still.ts';
export { measureFolder, MIN_ENTRY_BYTES, takenBy, type FolderSize, type MeasureOptions } from './measure-folder.ts';
export { readLines, TooMuch, type NdjsonLimits } from './ndjson.ts';
export { readFirstLine, type FirstLineLimits } from './read-first-line.ts';
export { refuseUpgrade } from './refuse-upgrade.ts';
