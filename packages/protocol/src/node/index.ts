/** What both ends of the executor's API need of Node: streams, upgrades, folders. Nothing here runs in a browser. */
export { findOnPath, isExecutable } from './find-on-path.ts';
export { letGoOfStill, refuseUpgrade } from './http-connections.ts';
export { measureFolder, MIN_ENTRY_BYTES, takenBy, type FolderSize, type MeasureOptions } from './measure-folder.ts';
export { joinStreams, readFirstLine, readLines, TooMuch, type FirstLineLimits, type NdjsonLimits } from './streams.ts';
