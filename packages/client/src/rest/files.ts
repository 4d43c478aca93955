import type { FileContent, FileList, GitChanges, GitDiff, UploadAnswer } from '@tendon/protocol';
import type { Request } from './request.ts';

const at = (id: string, rest: string) => `/api/conversations/${encodeURIComponent(id)}/${rest}`;

export function fileRoutes(request: Request) {
  return {
    /** Folders first, each ending in `/`; entries of a folder carry its path. */
    list: (id: string, path?: string) => request<FileList>(at(id, 'list-files'), { query: { path } }),
    read: (id: string, file: string) => request<FileContent>(at(id, 'select-file'), { query: { file } }),
    upload: (id: string, files: readonly File[]) => {
      const form = new FormData();
      for (const file of files) form.append('files', file, file.name);
      return request<UploadAnswer>(at(id, 'upload-files'), { method: 'POST', body: form });
    },
    changes: (id: string) => request<GitChanges>(at(id, 'git/changes')),
    diff: (id: string, path: string) => request<GitDiff>(at(id, 'git/diff'), { query: { path } }),
    /** Where a browser downloads the workspace from. */
    zipPath: (id: string) => at(id, 'zip-directory'),
  };
}
