/** Files on their way into a sandbox and out of it: loaded when the first is asked for. */
/** @internal */
export { readZip } from './read-zip.ts';
export { takeUpload } from './take-upload.ts';
export { unzipInto } from './read-zip.ts';
export { zipWorkspace } from './zip-workspace.ts';
