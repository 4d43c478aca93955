import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConversationInfo } from '@tendon/client';
import { ArrowLeft, FolderGit2, GitBranch, PanelRight, Search } from 'lucide-react';
import { memo, useContext, useLayoutEffect, useRef, useState } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { CommandContext, useCommands } from '../../lib/commands.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon, Mark } from '../../ui/icon.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import { ThemeButton } from '../../ui/theme.tsx';
import { SettingsLink } from '../settings-link.tsx';
import { ConversationsPopup } from './conversations-popup.tsx';
import { SharePopup } from './share-popup.tsx';
import { TitleMenu } from './title-menu.tsx';
import { ThisConversationPopup } from './this-conversation-popup.tsx';
import type { WorkbenchState } from './use-workbench.ts';
import { Link } from '../../ui/link.tsx';
import { TerminalHeld } from '../../workbench/terminal/terminal-hold.tsx';
import { t } from '../../lib/language/text.ts';

export const ConversationBar = memo(function ConversationBar(props: {
  readonly title: string;
  readonly info: ConversationInfo | undefined;
  readonly workbench: WorkbenchState;
  readonly isListBeside: boolean;
}) {
  const { title, info, workbench, isListBeside } = props;
  const { id } = useConversationActs();
  const { openPalette } = useContext(CommandContext);
  return (
    <header className="top-bar">
      <Link className="brand only-wide" to={paths.home} aria-label={t('Tendon, home')}>
        <Mark />
      </Link>
      <Link className="button button-icon only-narrow" to={paths.home} aria-label={t('Back to conversations')}>
        <Icon of={ArrowLeft} />
      </Link>
      {!isListBeside && <ConversationsPopup current={id} />}
      <Title title={title} />
      <span className="place only-wide">
        {info?.selected_repository && (
          <span>
            <Icon of={FolderGit2} small />
            {info.selected_repository}
          </span>
        )}
        {info?.selected_branch && (
          <span>
            <Icon of={GitBranch} small />
            {info.selected_branch}
          </span>
        )}
      </span>
      <span className="flex-1" />
      <TerminalHeld />
      <IconButton label={t('Search or run a command')} hint="mod+k" onClick={openPalette}>
        <Icon of={Search} />
      </IconButton>
      <ThisConversationPopup />
      <SharePopup />
      <IconButton
        className="only-wide"
        label={workbench.isShown ? t('Hide the workbench') : t('Show the workbench')}
        hint="mod+\"
        onClick={workbench.toggle}
      >
        <Icon of={PanelRight} />
      </IconButton>
      <SettingsLink />
      <span className="only-wide">
        <ThemeButton />
      </span>
    </header>
  );
});

/** The one heading of the page; a click renames in place. */
function Title({ title }: { readonly title: string }) {
  const { id } = useConversationActs();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<string>();
  const rename = useMutation({
    mutationFn: (next: string) => tendon.conversations.rename(id, next),
    onSettled: () => queries.invalidateQueries({ queryKey: ['conversations'] }),
  });
  const button = useRef<HTMLButtonElement>(null);
  const endedByKey = useRef(false);
  const begin = () => setDraft(title);
  useCommands('title', [{ id: 'rename', title: t('Rename'), group: 'Here', run: begin }]);
  const finish = () => {
    const next = draft?.trim();
    setDraft(undefined);
    if (next && next !== title) rename.mutate(next.slice(0, 200));
  };
  // The field goes with the key, and its button is what a person came from.
  useLayoutEffect(() => {
    if (draft === undefined && endedByKey.current) button.current?.focus();
    endedByKey.current = false;
  }, [draft]);
  if (draft !== undefined) {
    return (
      <input
        className="field max-w-96 font-semibold"
        aria-label={t('Title')}
        value={draft}
        maxLength={200}
        ref={focusOnMount}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== 'Escape') return;
          // The key would press the button that gets the focus.
          event.preventDefault();
          endedByKey.current = true;
          if (event.key === 'Enter') finish();
          else setDraft(undefined);
        }}
      />
    );
  }
  return (
    <>
      <h1 className="flex min-w-0">
        <button type="button" className="button button-quiet title-button" title={t('Rename')} ref={button} onClick={begin}>
          <span className="truncate">{rename.isPending ? rename.variables : title}</span>
        </button>
      </h1>
      <TitleMenu id={id} title={title} onRename={begin} />
    </>
  );
}
