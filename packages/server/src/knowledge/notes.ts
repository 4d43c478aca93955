/**
 * What agents remember between conversations: Markdown files under `<home>/notes`, a line for each thing, which a person may edit at any time.
 *
 * Invariants
 * NO1  A file is exchanged by renaming: a kill leaves the one before or the one after. Changes are made one at a time.
 * NO2  Nothing is written beyond the bounds, and no known secret; a file that cannot be read is not written over.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { NoteFile, TakeNote, Note, Noted } from '@tendon/core';
import type { NoteFileInfo } from '@tendon/protocol';
import { Mutex } from '@tendon/protocol/async';
import type { Mask } from '@tendon/protocol/masking';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import { readPlainFile } from '../platform/read-plain-file.ts';
import { INSIDE } from '../sandboxes/workspace-folder.ts';

const MAX_LINES = 200;
const MAX_LINE = 300;
const MAX_BYTES = 16 * 1024;
/** Of a file that a person wrote; its lines are read as far as the bounds go. */
const MAX_READ_BYTES = 1024 * 1024;
const MAX_FILES = 500;

type NotedPlace = Pick<StoredConversation, 'id' | 'workspace' | 'selected_repository' | 'git_provider' | 'organisation_id'>;

export interface ConversationNotes {
  readonly take: TakeNote;
  /** Rejects when a file cannot be read. */
  readonly read: () => Promise<readonly NoteFile[]>;
}

export class Notes {
  readonly #folder: string;
  readonly #mask: Pick<Mask, 'text'>;
  readonly #changes = new Mutex();

  constructor(home: string, mask: Pick<Mask, 'text'>) {
    this.#folder = join(home, 'notes');
    this.#mask = mask;
  }

  /** Those that count in this conversation. */
  of(place: NotedPlace): ConversationNotes {
    // What the agents of one organisation note, those of another do not read.
    const prefix = place.organisation_id === undefined ? '' : `organisations/${place.organisation_id}/`;
    const user = `${prefix}user`;
    const named = repositoryName(place);
    const repository = named && prefix + named;
    return {
      take: async (note) => {
        const name = note.about === 'user' ? user : repository;
        if (name === undefined) return { ok: false, problem: NO_REPOSITORY };
        return this.#changes.run(() => this.#take(name, note));
      },
      read: async () => {
        const own = await this.#read('user', user);
        return repository === undefined ? [own] : [own, await this.#read('repository', repository)];
      },
    };
  }

  async list(): Promise<readonly NoteFileInfo[]> {
    const found = await readdir(join(this.#folder, 'repositories')).catch(() => []);
    const names = found.filter((name) => name.endsWith('.md')).map((name) => `repositories/${name.slice(0, -'.md'.length)}`);
    return Promise.all(['user', ...names.toSorted().slice(0, MAX_FILES)].map((name) => this.#info(name)));
  }

  /** As a person wants it; says why it is refused. */
  replace(name: string, text: string, replaces?: string): Promise<NoteFileInfo | { readonly problem: string; readonly isOther?: true }> {
    return this.#changes.run(async () => {
      if (replaces !== undefined && (await this.#info(name)).text !== replaces) return { problem: OTHER, isOther: true };
      const masked = this.#mask.text(text);
      const problem = excess(masked);
      if (problem !== undefined) return { problem };
      await (masked.trim() === '' ? rm(this.#path(name), { force: true }) : this.#write(name, masked));
      return this.#info(name);
    });
  }

  async #read(about: NoteFile['about'], name: string): Promise<NoteFile> {
    return { about, path: shownPath(name), lines: linesOf(this.#mask.text(await this.#text(name))) };
  }

  async #info(name: string): Promise<NoteFileInfo> {
    const path = this.#path(name);
    try {
      return { name, path, text: this.#mask.text(await this.#text(name)) };
    } catch (cause) {
      return { name, path, text: '', problem: (cause as Error).message };
    }
  }

  async #take(name: string, note: Note): Promise<Noted> {
    try {
      const before = await this.#text(name);
      const line = plain(this.#mask.text(note.text));
      const { change, text } = changed(before, { text: line, replaces: note.replaces && plain(note.replaces) });
      const isLonger = change === 'added' || change === 'replaced';
      // Of the others a person may have written longer ones.
      const problem = isLonger ? (excess(line) ?? excess(text, { maxLine: Infinity })) : undefined;
      if (problem !== undefined) return { ok: false, problem: `${problem} Replace or remove a line that counts no more.` };
      if (change !== 'unchanged') await this.#write(name, text);
      return { ok: true, change, file: shownPath(name) };
    } catch (cause) {
      return { ok: false, problem: `${shownPath(name)} cannot be changed: ${(cause as Error).message}` };
    }
  }

  /** Empty where there is no file. Rejects with a user-facing Error. */
  async #text(name: string): Promise<string> {
    try {
      return await readPlainFile(this.#path(name), MAX_READ_BYTES);
    } catch (error) {
      if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return '';
      throw error;
    }
  }

  async #write(name: string, text: string): Promise<void> {
    const path = this.#path(name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // Always the same name: what a kill leaves is written over by the next change.
    const draft = `${path}.draft`;
    await writeFile(draft, text, { mode: 0o600, flush: true });
    await rename(draft, path);
  }

  #path(name: string): string {
    return join(this.#folder, `${name}.md`);
  }
}

const OTHER = 'the notes were changed since they were read; look at them first';
const NO_REPOSITORY = 'This conversation has a folder of its own, which no later one works in: there is nothing to note about it.';

/** A readable beginning, and a digest of what it is about. Nothing for a folder that was made for this conversation alone. */
function repositoryName({ id, workspace, selected_repository: repository, git_provider: provider }: NotedPlace): string | undefined {
  if (!repository && (basename(workspace) === id || workspace === INSIDE)) return undefined;
  const about = repository ? `${provider ?? ''}:${repository}` : workspace;
  const readable = (repository ?? basename(workspace))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40);
  return `repositories/${readable || 'folder'}-${createHash('sha256').update(about).digest('hex').slice(0, 12)}`;
}

function shownPath(name: string): string {
  return `notes/${name}.md`;
}

/** Without the marks of a list, and without headings and empty lines. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .map((line) => plain(line).slice(0, MAX_LINE).toWellFormed())
    .filter((line) => line !== '')
    .slice(-MAX_LINES);
}

/** One line, whatever was written. */
function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .replace(/^[-*] +/, '');
}

interface Change {
  readonly change: 'added' | 'replaced' | 'removed' | 'unchanged';
  readonly text: string;
}

/** The other lines stay as they are, byte for byte. */
function changed(before: string, { text, replaces }: Pick<Note, 'text' | 'replaces'>): Change {
  const lines = before.split('\n');
  const isThere = text !== '' && lines.some((line) => plain(line) === text);
  const at = replaces ? lines.findIndex((line) => plain(line) === replaces) : -1;
  if (at >= 0 && replaces !== text) {
    lines.splice(at, 1, ...(text === '' || isThere ? [] : [`- ${text}`]));
    return { change: text === '' ? 'removed' : 'replaced', text: lines.join('\n') };
  }
  if (text === '' || isThere) return { change: 'unchanged', text: before };
  const end = before === '' || before.endsWith('\n') ? '' : '\n';
  return { change: 'added', text: `${before}${end}- ${text}\n` };
}

function excess(text: string, { maxLine = MAX_LINE } = {}): string | undefined {
  const lines = text.replace(/\n$/, '').split('\n');
  if (lines.length > MAX_LINES) return `A file of notes has at most ${MAX_LINES} lines.`;
  if (lines.some((line) => line.replace(/^[-*] +/, '').length > maxLine)) return `A line of notes has at most ${MAX_LINE} characters.`;
  return Buffer.byteLength(text) > MAX_BYTES ? `A file of notes has at most ${MAX_BYTES / 1024} KB.` : undefined;
}
