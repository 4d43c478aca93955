import type { FileContent, FileList, FileNode, GitChanges, GitDiff, UploadAnswer } from '@tendon/protocol';
import type { Request } from './request.ts';

const at = (id: string, rest: string) => `/api/conversations/${encodeURIComponent(id)}/${rest}`;

export function fileRoutes(request: Request) {
  return {
    /** Folders first, each ending in `/`; entries of a folder carry its path. */
    list: (id: string, path?: string) => request<FileList>(at(id, 'list-files'), { query: { path } }),
    /** The folder with what is in it, so many levels deep. */
    tree: (id: string, path?: string, depth?: number) => request<FileNode>(at(id, 'files/tree'), { query: { path, depth } }),
    /** As `read`, in the words of `openhands-events.md`. */
    content: (id: string, path: string) => request<FileContent>(at(id, 'files/content'), { query: { path } }),
    read: (id: string, file: string) => request<FileContent>(at(id, 'select-file'), { query: { file } }),
    /** `replaces`: what it held when it was read; the answer is 409 where it holds something else by now. */
    save: (id: string, file: string, content: string, replaces?: string) =>
      request<{ message: string }>(at(id, 'save-file'), { method: 'POST', body: { filePath: file, content, replaces } }),
    download: (id: string, path: string, signal?: AbortSignal) =>
      request<Blob>(at(id, 'files/download'), { query: { path }, asBlob: true, ...(signal && { signal }) }),
    /** Into a folder of the workspace, or the workspace itself. */
    upload: (id: string, files: readonly File[], folder = '') => {
      const form = new FormData();
      for (const file of files) form.append('files', file, `${folder && `${folder}/`}${file.name}`);
      return request<UploadAnswer>(at(id, 'upload-files'), { method: 'POST', body: form });
    },
    changes: (id: string) => request<GitChanges>(at(id, 'git/changes')),
    diff: (id: string, path: string) => request<GitDiff>(at(id, 'git/diff'), { query: { path } }),
    /** A folder, or the whole workspace. */
    zip: (id: string, path?: string) => request<Blob>(at(id, 'zip-directory'), { query: { path }, asBlob: true }),
  };
}
